#include "lib/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/owner_references_permission_enforcement/owner_resources.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

const json::array& OwnersOf(const meta::Object& object) { return ListAt(object.Metadata(), "ownerReferences"); }

bool ChangesOwners(const Attributes& attributes) {
  const json::array& owners = OwnersOf(std::as_const(*attributes.object));
  if (!attributes.old_object) return !owners.empty();
  const json::array& old = OwnersOf(*attributes.old_object);
  return !std::equal(owners.begin(), owners.end(), old.begin(), old.end(),
                     [](const json::value& a, const json::value& b) { return SemanticallyEqual(&a, &b); });
}

bool Blocks(const json::object& owner) { return BoolAt(owner, "blockOwnerDeletion").value_or(false); }

/// Returns the references that block the deletion of their owner and did not do so before.
std::vector<const json::object*> NewBlockingOwners(const Attributes& attributes) {
  std::vector<const json::object*> blocking;
  for (const json::value& owner : OwnersOf(std::as_const(*attributes.object))) {
    if (!owner.is_object() || !Blocks(owner.get_object())) continue;
    const std::string_view uid = FindString(owner.get_object(), "uid");
    const bool blocked_before =
        attributes.old_object && AnyOf(OwnersOf(*attributes.old_object), [uid](const json::object& old) {
          return FindString(old, "uid") == uid && Blocks(old);
        });
    if (!blocked_before) blocking.push_back(&owner.get_object());
  }
  return blocking;
}

service::AccessQuestion Question(const meta::RequestContext& ctx, std::string verb, const meta::Gvr& resource,
                                 std::string subresource, std::string ns, std::string name) {
  service::AccessQuestion question;
  question.user = ctx.User();
  question.info.is_resource_request = true;
  question.info.verb = std::move(verb);
  question.info.api_prefix = resource.group.empty() ? "api" : "apis";
  question.info.api_group = resource.group;
  question.info.api_version = resource.version;
  question.info.resource = resource.resource;
  question.info.subresource = std::move(subresource);
  question.info.ns = std::move(ns);
  question.info.name = std::move(name);
  return question;
}

class OwnerReferencesPermissionEnforcement final : public Plugin {
 public:
  OwnerReferencesPermissionEnforcement(ObjectsPtr objects, service::AuthClientPtr auth)
      : objects_(std::move(objects)), auth_(std::move(auth)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    if (phase != Phase::kValidate ||
        (attributes.operation != Operation::kCreate && attributes.operation != Operation::kUpdate)) {
      return false;
    }
    // Kubelets write the status of pods, and must not have to be able to delete them for that.
    if (attributes.subresource == "status" && IsResource(attributes, "", "pods")) return false;
    return ChangesOwners(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    if (attributes.operation == Operation::kUpdate) {
      service::AccessQuestion may_delete =
          Question(ctx, "delete", attributes.resource, attributes.subresource, attributes.ns, attributes.name);
      const std::string denied = co_await Denial(ctx, std::move(may_delete));
      if (!denied.empty())
        co_return Forbidden(attributes, "cannot set an ownerRef on a resource you can't delete: " + denied);
    }
    const std::vector<const json::object*> blocking = NewBlockingOwners(attributes);
    if (blocking.empty()) co_return meta::Result<>();
    const meta::Gvr anything{"*", "*", "*"};
    service::AccessQuestion may_finalize_all = Question(ctx, "update", anything, "finalizers", "", "*");
    const std::string denied = co_await Denial(ctx, std::move(may_finalize_all));
    if (denied.empty()) co_return meta::Result<>();
    for (const json::object* owner : blocking) CO_RETURN_IF_ERROR(co_await CheckOwner(ctx, attributes, *owner));
    co_return meta::Result<>();
  }

 private:
  Task<meta::Result<>> CheckOwner(meta::RequestContext ctx, const Attributes& attributes, const json::object& owner) {
    const std::string version(FindString(owner, "apiVersion")), kind(FindString(owner, "kind"));
    const meta::Result<owner_references::OwnerResource> found =
        co_await owner_references::FindResource(ctx, objects_, version, kind);
    if (!found) {
      co_return Forbidden(attributes,
                          fmt::format("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
                                      "APIVersion {} Kind {}: {}",
                                      version, kind, found.error().Message()));
    }
    service::AccessQuestion may_finalize =
        Question(ctx, "update", found->resource, "finalizers", found->namespaced ? attributes.ns : "",
                 std::string(FindString(owner, "name")));
    const std::string denied = co_await Denial(ctx, std::move(may_finalize));
    if (denied.empty()) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
                        "finalizers on: " +
                            denied);
  }

  /// Returns the reason and the error of a denial, as kube-apiserver prints them, or "" if the user is allowed.
  Task<std::string> Denial(meta::RequestContext ctx, service::AccessQuestion question) {
    if (!auth_) co_return ", no authorizer";
    const meta::Result<service::AccessDecision> decision =
        co_await auth_->Authorize(std::move(question), ctx.Deadline());
    if (!decision) co_return fmt::format(", {}", decision.error().Message());
    if (decision->allowed) co_return "";
    co_return fmt::format("{}, <nil>", decision->reason);
  }

  const ObjectsPtr objects_;
  const service::AuthClientPtr auth_;
};

}  // namespace

std::unique_ptr<Plugin> MakeOwnerReferencesPermissionEnforcement(const PluginInputs& inputs) {
  return std::make_unique<OwnerReferencesPermissionEnforcement>(inputs.objects, inputs.auth);
}

}  // namespace apimesh::admission
