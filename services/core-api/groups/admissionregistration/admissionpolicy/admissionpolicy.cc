#include "services/core-api/groups/admissionregistration/admissionpolicy/admissionpolicy.h"

#include <fmt/format.h>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/admissionregistration/admissionpolicy/validation.h"
#include "services/core-api/groups/admissionregistration/param_access.h"
#include "services/core-api/groups/admissionregistration/rules.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ValidatingPolicyStrategy final : public AdmissionStrategy<registry::SpecStrategy> {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateValidatingPolicy(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateValidatingPolicy(object, &old);
  }
};

class ValidatingPolicyStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return ValidateValidatingPolicyStatus(object);
  }
};

class MutatingPolicyStrategy final : public AdmissionStrategy<registry::Strategy> {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateMutatingPolicy(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateMutatingPolicy(object, &old);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages, const char* list) {
  meta::FieldErrors ignored;
  const Check spec = SpecOf(object, ignored);
  const std::optional<Check> kind = spec.Child("paramKind");
  return {json::string(object.Name()), SizeOf(spec, list),
          kind ? fmt::format("{}/{}", kind->Text("apiVersion"), kind->Text("kind")) : "<unset>", AgeCell(object, ages)};
}

registry::TablePrinter Table(const char* column, const char* list) {
  return {{NameColumn(),
           IntegerColumn(column, "Number of rules."),
           {.name = "ParamKind", .description = "Kind of the objects with the parameters of the policy."},
           AgeColumn()},
          [list](const meta::Object& object, meta::Ages& ages) { return Cells(object, ages, list); },
          {"metadata.name", "metadata.creationTimestamp", "spec"}};
}

}  // namespace

registry::Resource ValidatingAdmissionPolicyResource(const KindInputs& inputs) {
  constexpr const char* kPlural = "validatingadmissionpolicies";
  registry::Resource resource =
      FromTable("admissionregistration.k8s.io", "v1", kPlural, std::make_shared<ValidatingPolicyStrategy>());
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<ValidatingPolicyStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.generation = true;
  resource.checks = PolicyParamChecks(inputs, resource.gvk.GroupKind(), &ValidateValidatingPolicy);
  resource.table = Table("Validations", "validations");
  return resource;
}

registry::Resource MutatingAdmissionPolicyResource(const KindInputs& inputs) {
  constexpr const char* kPlural = "mutatingadmissionpolicies";
  registry::Resource resource =
      FromTable("admissionregistration.k8s.io", "v1", kPlural, std::make_shared<MutatingPolicyStrategy>());
  resource.generation = true;
  resource.checks = PolicyParamChecks(inputs, resource.gvk.GroupKind(), &ValidateMutatingPolicy);
  resource.table = Table("Mutations", "mutations");
  return resource;
}

}  // namespace apimesh::core_api
