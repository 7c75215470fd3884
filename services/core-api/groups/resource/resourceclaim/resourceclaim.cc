#include "services/core-api/groups/resource/resourceclaim/resourceclaim.h"

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/resource/admin_access.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/groups/resource/device_selectors.h"
#include "services/core-api/groups/resource/resourceclaim/status.h"
#include "services/core-api/groups/resource/resourceclaim/status_access.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ClaimStrategy final : public registry::SpecStrategy {
 public:
  explicit ClaimStrategy(const features::FeatureGates& features) : selectors_(features) {}

  void Default(json::object& object) const override { DefaultDeviceClaim(meta::MakeObject(object, "spec")); }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateDeviceClaim(SpecOf(object, errors), selectors_, false);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    ValidateImmutableAtRoot("spec", object, old, errors);
    return errors;
  }

 private:
  const DeviceSelectorRules selectors_;
};

class ClaimStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    StatusStrategy::PrepareForUpdate(ctx, object, old);
    DropDeallocatedDevices(object, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateClaimStatus(object, old);
  }
};

std::string State(const meta::Object& claim) {
  const bool deleted = !claim.DeletionTimestamp().empty();
  const json::value* allocation = meta::Find(claim.Root(), "status", "allocation");
  std::string state = deleted ? "deleted" : "";
  if (!allocation || !allocation->is_object()) return deleted ? state : "pending";
  state += state.empty() ? "allocated" : ",allocated";
  if (!Objects(meta::Find(claim.Root(), "status", "reservedFor")).empty()) state += ",reserved";
  return state;
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), State(object), AgeCell(object, ages)};
}

}  // namespace

registry::Resource ResourceClaimResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1", "resourceclaims", std::make_shared<ClaimStrategy>(inputs.features));
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<ClaimStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  const storage::StorePtr namespaces = inputs.StoreOf({"", "v1", "namespaces"});
  resource.checks = MakeAdminAccessCheck(resource.gvk, namespaces);
  status.checks = MakeStatusAccessCheck(resource.gvk, inputs);
  resource.returns_deleted_object = true;
  resource.table = {
      {NameColumn(), {.name = "State", .description = "Whether the claim is allocated and reserved."}, AgeColumn()},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp", "status.allocation",
       "status.reservedFor"}};
  return resource;
}

}  // namespace apimesh::core_api
