#include "services/core-api/groups/admissionregistration/admissionpolicybinding/admissionpolicybinding.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/core-api/groups/admissionregistration/param_access.h"
#include "services/core-api/groups/admissionregistration/rules.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateParamRef(const Check& ref) {
  constexpr const char* kExclusive = "name and selector are mutually exclusive";
  const bool name = !ref.Text("name").empty(), selector = ref.Has("selector");
  ref.Names("name", [](std::string_view text) { return meta::CheckPathSegment(text); });
  if (name && selector) ref.Forbid("name", kExclusive);
  ValidateSelectorOf(ref, "selector");
  if (name && selector) ref.Forbid("selector", kExclusive);
  if (!name && !selector) ref.Add(meta::Required(ref.Path().ToString(), "one of name or selector must be specified"));
  if (ref.Require("parameterNotFoundAction")) ValidateChoice(ref, "parameterNotFoundAction", {"Deny", "Allow"});
}

void ValidateActions(const Check& spec) {
  static const std::vector<std::string> kActions = {"Audit", "Deny", "Warn"};
  const meta::Path path = spec.Path().Child("validationActions");
  std::set<std::string_view> seen;
  std::size_t index = 0;
  for (const std::string_view action : TextsOf(spec, "validationActions")) {
    const std::string place = path.Index(index++).ToString();
    if (std::find(kActions.begin(), kActions.end(), action) == kActions.end())
      spec.Add(meta::NotSupported(place, meta::Quoted(action), kActions));
    if (!seen.insert(action).second) spec.Add(meta::Duplicate(place, meta::Quoted(action)));
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    spec.Invalid("validationActions",
                 "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                 "response and headers serves no purpose)");
  }
  if (seen.empty()) spec.Add(meta::Required(path.ToString(), "at least one validation action is required"));
}

class BindingStrategy final : public AdmissionStrategy<registry::Strategy> {
 public:
  explicit BindingStrategy(bool mutating) : mutating_(mutating) {}
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.RequireName("policyName", meta::CheckDnsSubdomain);
    if (const std::optional<Check> ref = spec.Child("paramRef")) ValidateParamRef(*ref);
    if (const std::optional<Check> resources = spec.Child("matchResources")) ValidateMatchResources(*resources);
    if (mutating_) {
      ValidateMutatingOperations(spec, "matchResources");
    } else {
      ValidateActions(spec);
    }
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }

 private:
  const bool mutating_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  meta::FieldErrors ignored;
  const Check spec = SpecOf(object, ignored);
  std::string parameter = "<unset>";
  if (const std::optional<Check> ref = spec.Child("paramRef")) {
    const std::string_view ns = ref->Text("namespace");
    if (!ref->Text("name").empty()) {
      parameter = fmt::format("{}/{}", ns.empty() ? "*" : ns, ref->Text("name"));
    } else if (ref->Has("selector")) {
      parameter = SelectorText(meta::FindField(ref->Object(), "selector"));
    }
  }
  return {json::string(object.Name()), TextCell(spec.Text("policyName")), parameter, AgeCell(object, ages)};
}

registry::Resource BindingOf(const KindInputs& inputs, const char* plural, const char* policies, bool mutating) {
  const auto strategy = std::make_shared<BindingStrategy>(mutating);
  registry::Resource resource = FromTable("admissionregistration.k8s.io", "v1", plural, strategy);
  const ValidateObject validate = [strategy](const meta::Object& object, const meta::Object*) {
    return strategy->Validate(meta::RequestContext(), object);
  };
  resource.checks = BindingParamChecks(inputs, resource.gvk.GroupKind(), policies, validate);
  resource.generation = true;
  resource.table = {{NameColumn(),
                     {.name = "PolicyName", .description = "The policy that the binding activates."},
                     {.name = "ParamRef", .description = "The object with the parameters of the policy."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec"}};
  return resource;
}

}  // namespace

registry::Resource ValidatingAdmissionPolicyBindingResource(const KindInputs& inputs) {
  return BindingOf(inputs, "validatingadmissionpolicybindings", "validatingadmissionpolicies", false);
}

registry::Resource MutatingAdmissionPolicyBindingResource(const KindInputs& inputs) {
  return BindingOf(inputs, "mutatingadmissionpolicybindings", "mutatingadmissionpolicies", true);
}

}  // namespace apimesh::core_api
