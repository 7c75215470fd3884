#include "services/core-api/groups/core/persistentvolumeclaim/persistentvolumeclaim.h"

#include <fmt/format.h>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/core/persistentvolumeclaim/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ClaimStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& status = meta::MakeObject(object, "status");
    if (meta::FindString(status, "phase").empty()) status["phase"] = "Pending";
  }
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    object.Root()["status"] = {{"phase", "Pending"}};
    SyncDataSources(meta::MakeObject(object.Root(), "spec"), nullptr);
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    meta::FieldErrors ignored;
    SyncDataSources(meta::MakeObject(object.Root(), "spec"), &SpecOf(old, ignored).Object());
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateClaimSpec(SpecOf(object, errors), false);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateClaimUpdate(object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    if (FindAnnotation(object, kBetaStorageClass)) {
      warnings.push_back(
          fmt::format(R"(metadata.annotations[{}]: deprecated since v1.8; use "storageClassName" attribute instead)",
                      kBetaStorageClass));
    }
    meta::FieldErrors unused;
    for (std::string& warning : ClaimSpecWarnings(SpecOf(object, unused).Object(), meta::Path("spec")))
      warnings.push_back(std::move(warning));
    return warnings;
  }
};

class ClaimStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return ValidateClaimStatusUpdate(object);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const std::string_view volume = meta::FindString(root, "spec", "volumeName");
  const bool deleted = !object.DeletionTimestamp().empty();
  return {json::string(object.Name()),
          TextCell(deleted ? "Terminating" : meta::FindString(root, "status", "phase")),
          TextCell(volume),
          volume.empty() ? "" : StorageText(meta::Find(root, "status", "capacity")),
          volume.empty() ? "" : AccessModesText(meta::Find(root, "status", "accessModes")),
          TextCell(StorageClassOf(object)),
          meta::Find(root, "spec", "volumeAttributesClassName")
              ? TextCell(meta::FindString(root, "spec", "volumeAttributesClassName"))
              : TextCell("<unset>"),
          AgeCell(object, ages),
          TextCell(meta::FindString(root, "spec", "volumeMode"), "<unset>")};
}

}  // namespace

registry::Resource PersistentVolumeClaimResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "persistentvolumeclaims", std::make_shared<ClaimStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<ClaimStatusStrategy>(resource.strategy);
  resource.returns_deleted_object = true;
  resource.table = {
      {NameColumn(),
       {.name = "Status", .description = "Phase of the claim."},
       {.name = "Volume", .description = "The volume that is bound to the claim."},
       {.name = "Capacity", .description = "Size of the volume."},
       {.name = "Access Modes", .description = "How the volume can be mounted."},
       {.name = "StorageClass", .description = "Storage class of the claim."},
       {.name = "VolumeAttributesClass", .description = "Volume attributes class of the claim."},
       AgeColumn(),
       WideColumn("VolumeMode", "Whether the volume is a file system or a block device.")},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.annotations",
       "spec.volumeName", "spec.storageClassName", "spec.volumeAttributesClassName", "spec.volumeMode", "status.phase",
       "status.capacity", "status.accessModes"}};
  return resource;
}

}  // namespace apimesh::core_api
