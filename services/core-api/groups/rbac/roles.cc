#include "services/core-api/groups/rbac/roles.h"

#include "lib/meta/names.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/rbac/escalation/escalation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool HasAny(const Check& rule, std::string_view field) {
  const json::value* list = meta::FindField(rule.Object(), field);
  return list && list->is_array() && !list->get_array().empty();
}

void RequireAny(const Check& rule, std::string_view field, const char* why) {
  if (!HasAny(rule, field)) rule.Add(meta::Required(rule.Path().Child(field).ToString(), why));
}

void ValidateRule(const Check& rule, bool namespaced) {
  RequireAny(rule, "verbs", "verbs must contain at least one value");
  if (HasAny(rule, "nonResourceURLs")) {
    if (namespaced) rule.Invalid("nonResourceURLs", "namespaced rules cannot apply to non-resource URLs");
    if (HasAny(rule, "apiGroups") || HasAny(rule, "resources") || HasAny(rule, "resourceNames")) {
      rule.Invalid("nonResourceURLs", "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  RequireAny(rule, "apiGroups", "resource rules must supply at least one api group");
  RequireAny(rule, "resources", "resource rules must supply at least one resource");
}

class RoleStrategy final : public registry::Strategy {
 public:
  explicit RoleStrategy(bool namespaced) : namespaced_(namespaced) {}

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const json::value* rules = meta::FindField(object.Root(), "rules");
    for (std::size_t i = 0; rules && rules->is_array() && i < rules->get_array().size(); ++i) {
      const json::value& rule = rules->get_array()[i];
      if (rule.is_object()) ValidateRule(Check(rule.get_object(), meta::Path("rules").Index(i), errors), namespaced_);
    }
    const json::value* aggregation = meta::FindField(object.Root(), "aggregationRule");
    if (namespaced_ || !aggregation || !aggregation->is_object()) return errors;
    const Check rule(aggregation->get_object(), meta::Path("aggregationRule"), errors);
    RequireAny(rule, "clusterRoleSelectors", "at least one clusterRoleSelector required if aggregationRule is non-nil");
    for (const Check& selector : rule.Each("clusterRoleSelectors")) {
      meta::FieldErrors found = meta::ValidateLabelSelector(selector.Object(), selector.Path());
      const bool usable = found.empty();
      for (meta::FieldError& error : found) selector.Add(std::move(error));
      if (!usable) selector.Add(meta::Invalid(selector.Path().ToString(), "null", "invalid label selector."));
    }
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
  bool AllowCreateOnUpdate() const override { return true; }

 private:
  bool namespaced_;
};

json::array Cells(const meta::Object& object, meta::Ages&) {
  return {json::string(object.Name()), TextCell(meta::FindString(object.Metadata(), "creationTimestamp"))};
}

registry::Resource Make(std::string_view plural, bool namespaced, const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("rbac.authorization.k8s.io", "v1", plural, std::make_shared<RoleStrategy>(namespaced));
  resource.validate_name = meta::NameIsPathSegment;  // names such as "system:node" are allowed
  resource.checks = MakeRoleChecks(std::string(plural), inputs.auth);
  resource.table = {{NameColumn(), {.name = "Created At", .type = "date", .description = "When the object was made."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp"}};
  return resource;
}

}  // namespace

registry::Resource RoleResource(const KindInputs& inputs) { return Make("roles", true, inputs); }

registry::Resource ClusterRoleResource(const KindInputs& inputs) { return Make("clusterroles", false, inputs); }

}  // namespace apimesh::core_api
