#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace apimesh::admission {
namespace {

constexpr std::array<std::string_view, 3> kImmortal = {"default", "kube-system", "kube-public"};

bool IsNamespace(const Attributes& attributes) {
  return attributes.kind.group.empty() && attributes.kind.kind == "Namespace";
}

/// An answer about the namespace would tell more than the asker may know.
bool IsAccessReview(const Attributes& attributes) {
  return attributes.resource.group == "authorization.k8s.io" && attributes.resource.resource == "localsubjectaccessreviews";
}

meta::ApiError Terminating(const Attributes& attributes) {
  meta::ApiError::Data data =
      Forbidden(attributes, fmt::format("unable to create new content in namespace {} because it is being terminated",
                                        attributes.ns))
          .Get();
  data.causes.push_back({"NamespaceTerminating", fmt::format("namespace {} is being terminated", attributes.ns),
                         "metadata.namespace"});
  return meta::ApiError(std::move(data));
}

class NamespaceLifecycle final : public Plugin {
 public:
  explicit NamespaceLifecycle(storage::StorePtr namespaces) : namespaces_(std::move(namespaces)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation != Operation::kConnect;
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    if (IsNamespace(attributes)) {
      const bool immortal = std::find(kImmortal.begin(), kImmortal.end(), attributes.name) != kImmortal.end();
      if (attributes.operation == Operation::kDelete && immortal) {
        co_return meta::Forbidden(attributes.resource.GroupResource(), attributes.name, "this namespace may not be deleted");
      }
      co_return meta::Result<>();
    }
    if (attributes.ns.empty() || attributes.operation == Operation::kDelete || IsAccessReview(attributes)) {
      co_return meta::Result<>();
    }
    ASSIGN_OR_CO_RETURN(const storage::EntryPtr found, co_await Find(ctx, attributes.ns));
    if (attributes.operation == Operation::kCreate && found->FieldValue("status.phase") == "Terminating") {
      co_return Terminating(attributes);
    }
    co_return meta::Result<>();
  }

 private:
  /// From the cache; a namespace the cache does not know may have been made a moment ago by another replica.
  Task<meta::Result<storage::EntryPtr>> Find(meta::RequestContext ctx, std::string name) {
    if (!namespaces_) co_return meta::InternalError("namespaces cannot be read here");
    const meta::Result<storage::Key> key = storage::KeyFor(false, "", name);
    if (!key) co_return meta::NotFound(meta::GroupResource{"", "namespaces"}, name);
    // Named, because GCC 12 destroys an aggregate twice that is made inside of a co_await expression.
    const storage::GetOptions any{.resource_version = "0"};
    const storage::GetOptions newest;
    meta::Result<storage::EntryPtr> cached = co_await namespaces_->Get(ctx, *key, any);
    if (cached || !cached.error().Is("NotFound")) co_return cached;
    co_return co_await namespaces_->Get(ctx, *key, newest);
  }

  storage::StorePtr namespaces_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNamespaceLifecycle(const PluginInputs& inputs) {
  return std::make_unique<NamespaceLifecycle>(inputs.namespaces);
}

}  // namespace apimesh::admission
