#include "services/core-api/groups/coordination/leasecandidate/leasecandidate.h"

#include "lib/meta/names.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/coordination/leasecandidate/version.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Returns the version of a field. A missing or wrong one is 0.0.0, as in kube-apiserver.
Version ReadVersion(const Check& spec, std::string_view field) {
  if (spec.Text(field).empty()) return {};
  const std::optional<Version> version = ParseVersion(spec.Text(field));
  if (!version) spec.Invalid(field, "must be a valid semantic version");
  return version.value_or(Version());
}

void ValidateStrategy(const Check& spec, const Version& emulated) {
  if (!spec.Require("strategy")) return;
  const std::string_view strategy = spec.Text("strategy");
  if (strategy == "OldestEmulationVersion" && emulated == Version()) {
    spec.Add(meta::Required("spec.emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'"));
  }
  const meta::Path path = spec.Path().Child("strategy").Child("strategy");  // kube-apiserver repeats the name
  if (strategy.find('/') != std::string_view::npos) {
    CheckText(spec, path, strategy, meta::CheckQualifiedName);
  } else if (strategy != "OldestEmulationVersion") {
    spec.Add(meta::NotSupported(path.ToString(), meta::Quoted(strategy), {"OldestEmulationVersion"}));
  }
}

class LeaseCandidateStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.Require("leaseName");
    const Version emulated = ReadVersion(spec, "emulationVersion");
    const bool has_binary = spec.Require("binaryVersion");
    const Version binary = ReadVersion(spec, "binaryVersion");
    if (has_binary && !spec.Text("emulationVersion").empty() && binary < emulated) {
      spec.Invalid("binaryVersion", "must be greater than or equal to `emulationVersion`");
    }
    ValidateStrategy(spec, emulated);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    ValidateImmutable("leaseName", SpecOf(object, errors), old);
    return errors;
  }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  return {json::string(object.Name()), TextCell(meta::FindString(root, "spec", "leaseName")),
          TextCell(meta::FindString(root, "spec", "binaryVersion")),
          TextCell(meta::FindString(root, "spec", "emulationVersion")), AgeCell(object, ages)};
}

}  // namespace

registry::Resource LeaseCandidateResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("coordination.k8s.io", "v1beta1", "leasecandidates", std::make_shared<LeaseCandidateStrategy>());
  resource.validate_name = [](std::string_view name, bool) { return meta::CheckConfigMapKey(name); };
  resource.selectable_fields = {"spec.leaseName"};
  resource.table = {{NameColumn(),
                     {.name = "LeaseName", .description = "The lease that the candidate wants."},
                     {.name = "BinaryVersion", .description = "The version of the candidate."},
                     {.name = "EmulationVersion", .description = "The version that the candidate emulates."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec"}};
  return resource;
}

}  // namespace apimesh::core_api
