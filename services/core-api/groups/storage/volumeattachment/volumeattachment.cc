#include "services/core-api/groups/storage/volumeattachment/volumeattachment.h"

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxMetadataBytes = 256 * 1024, kMaxMessage = 1024;

void ValidateSource(const Check& spec) {
  constexpr const char* kOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  const std::string path = spec.Path().Child("source").ToString();
  const std::optional<Check> source = spec.Child("source");
  const bool name = source && source->Has("persistentVolumeName");
  const std::optional<Check> inline_spec = source ? source->Child("inlineVolumeSpec") : std::nullopt;
  if (!name && !inline_spec) {
    spec.Add(meta::Required(path, kOne));
  } else if (name && inline_spec) {
    spec.Add(meta::Forbidden(path, kOne));
  } else if (name) {
    source->Require("persistentVolumeName", "must specify non empty persistentVolumeName");
  } else {
    ValidateVolumeSpec(*inline_spec, "", VolumeLocation::kInline);
  }
}

void ValidateError(const Check& status, std::string_view field) {
  const std::optional<Check> error = status.Child(field);
  if (!error) return;
  // kube-apiserver names the limit of the metadata here.
  if (error->Text("message").size() > kMaxMessage)
    error->Add(meta::TooLong(error->Path().Child("message").ToString(), kMaxMetadataBytes));
  if (error->Number("errorCode").value_or(0) < 0)
    error->Invalid("errorCode", "must be between 0 and 2147483647, inclusive");
}

void ValidateStatus(const Check& root) {
  const std::optional<Check> status = root.Child("status");
  if (!status) return;
  std::size_t bytes = 0;
  if (const std::optional<Check> metadata = status->Child("attachmentMetadata")) {
    for (const auto& [key, value] : metadata->Object())
      bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
    if (bytes > kMaxMetadataBytes) status->Add(meta::TooLong(metadata->Path().ToString(), kMaxMetadataBytes));
  }
  ValidateError(*status, "attachError");
  ValidateError(*status, "detachError");
}

meta::FieldErrors ValidateAttachment(const meta::Object& object) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(object, errors);
  ValidateCsiDriverName(spec, "attacher");
  ValidateSource(spec);
  CheckText(spec, spec.Path().Child("nodeName"), spec.Text("nodeName"), meta::CheckDnsSubdomain);
  ValidateStatus(Check(object.Root(), meta::Path(), errors));
  const std::optional<Check> source = spec.Child("source");
  if (source && source->Has("persistentVolumeName")) {
    CheckText(*source, source->Path().Child("persistentVolumeName"), source->Text("persistentVolumeName"),
              meta::CheckDnsSubdomain);
  }
  return errors;
}

/// An update of the main resource and of /status has the same rules.
meta::FieldErrors ValidateAttachmentUpdate(const meta::Object& object, const meta::Object& old) {
  meta::FieldErrors errors = ValidateAttachment(object);
  ValidateImmutableAtRoot("spec", object, old, errors);
  return errors;
}

class AttachmentStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateAttachment(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateAttachmentUpdate(object, old);
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

class AttachmentStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateAttachmentUpdate(object, old);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* attached = meta::Find(root, "status", "attached");
  return {json::string(object.Name()),
          TextCell(meta::FindString(root, "spec", "attacher")),
          TextCell(meta::FindString(root, "spec", "source", "persistentVolumeName")),
          TextCell(meta::FindString(root, "spec", "nodeName")),
          attached && attached->is_bool() && attached->get_bool(),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource VolumeAttachmentResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("storage.k8s.io", "v1", "volumeattachments", std::make_shared<AttachmentStrategy>());
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<AttachmentStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(),
                     {.name = "Attacher", .format = "name", .description = "The driver that attaches the volume."},
                     {.name = "PV", .description = "The volume."},
                     {.name = "Node", .description = "The node."},
                     {.name = "Attached", .type = "boolean", .description = "Whether the volume is attached."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.attacher", "spec.source.persistentVolumeName",
                     "spec.nodeName", "status.attached"}};
  return resource;
}

}  // namespace apimesh::core_api
