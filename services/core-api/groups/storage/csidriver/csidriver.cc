#include "services/core-api/groups/storage/csidriver/csidriver.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateTokenRequests(const Check& spec) {
  std::set<std::string_view> audiences;
  for (const Check& request : spec.Each("tokenRequests")) {
    const std::string_view audience = request.Text("audience");
    if (!audiences.insert(audience).second) {
      request.Add(meta::Duplicate(request.Path().Child("audience").ToString(), meta::Quoted(audience)));
      continue;
    }
    const std::int64_t seconds = request.Number("expirationSeconds").value_or(600);
    if (seconds < 600) request.Invalid("expirationSeconds", "may not specify a duration less than 10 minutes");
    if (seconds > std::int64_t{1} << 32)
      request.Invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds");
  }
}

meta::FieldErrors ValidateSpec(const meta::Object& object) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(object, errors);
  const std::string_view policy = spec.Text("fsGroupPolicy");
  if (policy != "ReadWriteOnceWithFSType" && policy != "File" && policy != "None") {
    errors.push_back(
        meta::NotSupported("spec.fsGroupPolicy", meta::Quoted(policy), {"File", "None", "ReadWriteOnceWithFSType"}));
  }
  ValidateTokenRequests(spec);
  for (const std::string_view mode : TextsOf(spec, "volumeLifecycleModes")) {
    if (mode != "Persistent" && mode != "Ephemeral")
      errors.push_back(
          meta::NotSupported("spec.volumeLifecycleModes", meta::Quoted(mode), {"Persistent", "Ephemeral"}));
  }
  if (spec.Number("nodeAllocatableUpdatePeriodSeconds").value_or(10) < 10)
    spec.Invalid("nodeAllocatableUpdatePeriodSeconds", "must be greater than or equal to 10 seconds");
  if (spec.Has("serviceAccountTokenInSecrets") && SizeOf(spec, "tokenRequests") == 0) {
    spec.Invalid("serviceAccountTokenInSecrets",
                 "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
  }
  return errors;
}

class CsiDriverStrategy final : public registry::Strategy {
 public:
  /// metadata.generation starts at 0 and counts the changes of the spec.
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    meta::MakeObject(object.Root(), "spec");
    const json::value* before = meta::FindField(old.Root(), "spec");
    if (!meta::Equal(meta::FindField(object.Root(), "spec"), before))
      object.SetMeta("generation", old.Generation() + 1);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateSpec(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = ValidateSpec(object);
    const auto immutable = [&](const char* field, const char* path) {
      const json::value* now = meta::Find(object.Root(), "spec", field);
      if (!meta::Equal(now, meta::Find(old.Root(), "spec", field)))
        errors.push_back(meta::Invalid(path, Shown(now), "field is immutable"));
    };
    immutable("attachRequired", "spec.attachedRequired");  // kube-apiserver names the field so
    immutable("volumeLifecycleModes", "spec.volumeLifecycleModes");
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    meta::FieldErrors ignored;
    const Check spec = SpecOf(object, ignored);
    const bool changed = !old || !meta::Equal(meta::FindField(spec.Object(), "tokenRequests"),
                                              meta::Find(old->Root(), "spec", "tokenRequests"));
    if (!changed || SizeOf(spec, "tokenRequests") == 0 || spec.Has("serviceAccountTokenInSecrets")) return {};
    return {
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
        "logging of tokens in volume attributes"};
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  meta::FieldErrors ignored;
  const Check spec = SpecOf(object, ignored);
  std::string audiences;
  for (const Check& request : spec.Each("tokenRequests"))
    audiences += fmt::format("{}{}", audiences.empty() ? "" : ",", request.Text("audience"));
  const std::string modes = JoinTexts(meta::FindField(spec.Object(), "volumeLifecycleModes"));
  return {json::string(object.Name()),
          !spec.Has("attachRequired") || spec.IsTrue("attachRequired"),
          spec.IsTrue("podInfoOnMount"),
          spec.IsTrue("storageCapacity"),
          spec.Has("tokenRequests") ? audiences : "<unset>",
          spec.IsTrue("requiresRepublish"),
          TextCell(modes, "<none>"),
          AgeCell(object, ages)};
}

registry::Column YesNo(std::string name, std::string description) {
  return {.name = std::move(name), .type = "boolean", .description = std::move(description)};
}

}  // namespace

registry::Resource CsiDriverResource(const KindInputs&) {
  registry::Resource resource = FromTable("storage.k8s.io", "v1", "csidrivers", std::make_shared<CsiDriverStrategy>());
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(),
                     YesNo("AttachRequired", "Whether volumes must be attached to nodes."),
                     YesNo("PodInfoOnMount", "Whether the driver gets information about the pod."),
                     YesNo("StorageCapacity", "Whether the driver reports its capacity."),
                     {.name = "TokenRequests", .description = "Audiences of the tokens that the driver gets."},
                     YesNo("RequiresRepublish", "Whether volumes are published periodically."),
                     {.name = "Modes", .description = "Lifecycle modes of the volumes."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec"}};
  return resource;
}

}  // namespace apimesh::core_api
