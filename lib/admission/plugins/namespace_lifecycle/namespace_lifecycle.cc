#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace apimesh::admission {
namespace {

const meta::Gvr kNamespaces{"", "v1", "namespaces"};
constexpr std::array<std::string_view, 3> kImmortal = {"default", "kube-system", "kube-public"};

bool IsNamespace(const Attributes& attributes) {
  return attributes.kind.group.empty() && attributes.kind.kind == "Namespace";
}

/// LocalSubjectAccessReviews are not checked, because an error would reveal to the user whether the namespace exists.
bool IsAccessReview(const Attributes& attributes) {
  return attributes.resource.group == "authorization.k8s.io" &&
         attributes.resource.resource == "localsubjectaccessreviews";
}

meta::ApiError Terminating(const Attributes& attributes) {
  meta::ApiError::Data data =
      Forbidden(attributes, fmt::format("unable to create new content in namespace {} because it is being terminated",
                                        attributes.ns))
          .Get();
  data.causes.push_back(
      {"NamespaceTerminating", fmt::format("namespace {} is being terminated", attributes.ns), "metadata.namespace"});
  return meta::ApiError(std::move(data));
}

class NamespaceLifecycle final : public Plugin {
 public:
  explicit NamespaceLifecycle(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation != Operation::kConnect;
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    if (IsNamespace(attributes)) {
      const bool immortal = std::find(kImmortal.begin(), kImmortal.end(), attributes.name) != kImmortal.end();
      if (attributes.operation == Operation::kDelete && immortal) {
        co_return meta::Forbidden(attributes.resource.GroupResource(), attributes.name,
                                  "this namespace may not be deleted");
      }
      co_return meta::Result<>();
    }
    if (attributes.ns.empty() || attributes.operation == Operation::kDelete || IsAccessReview(attributes)) {
      co_return meta::Result<>();
    }
    if (!objects_) co_return meta::InternalError("namespaces cannot be read here");
    // A namespace that is not in the cache may just have been created through another replica.
    ASSIGN_OR_CO_RETURN(ObjectPtr found,
                        co_await objects_->Get(ctx, kNamespaces, "", attributes.ns, Read::kCachedElseNewest));
    // The cache may not know yet of a deletion that this API server has answered.
    if (attributes.namespace_deleted && meta::FindString(found->Root(), "status", "phase") == "Active") {
      ASSIGN_OR_CO_RETURN(found, co_await objects_->Get(ctx, kNamespaces, "", attributes.ns, Read::kNewest));
    }
    const std::string_view phase = meta::FindString(found->Root(), "status", "phase");
    if (attributes.operation == Operation::kCreate && phase == "Terminating") {
      co_return Terminating(attributes);
    }
    co_return meta::Result<>();
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNamespaceLifecycle(const PluginInputs& inputs) {
  return std::make_unique<NamespaceLifecycle>(inputs.objects);
}

}  // namespace apimesh::admission
