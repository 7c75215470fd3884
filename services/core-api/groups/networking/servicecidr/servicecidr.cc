#include "services/core-api/groups/networking/servicecidr/servicecidr.h"

#include "lib/registry/status_strategy.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateCidrs(const Check& spec) {
  const meta::Path path = spec.Path().Child("cidrs");
  const std::vector<std::string_view> cidrs = TextsOf(spec, "cidrs");
  if (cidrs.empty()) {
    spec.Add(meta::Required(path.ToString(), "at least one CIDR required"));
    return;
  }
  if (cidrs.size() > 2) {
    const json::value shown(spec.Object());
    spec.Add(meta::Invalid(path.ToString(), Shown(&shown), "may only hold up to 2 values"));
    return;
  }
  for (std::size_t i = 0; i < cidrs.size(); ++i) CheckText(spec, path.Index(i), cidrs[i], CheckCanonicalCidr);
  if (cidrs.size() < 2) return;
  const std::optional<Cidr> first = ParseCidr(cidrs[0]), second = ParseCidr(cidrs[1]);
  if (first && second && first->address.is_v4() == second->address.is_v4()) {
    spec.Invalid("cidrs", "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
  }
}

class ServiceCidrStrategy final : public registry::SpecStrategy {
 public:
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    if (ActiveRuleFeatures().service_cidr_status_field_wiping) SpecStrategy::PrepareForCreate(ctx, object);
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    if (ActiveRuleFeatures().service_cidr_status_field_wiping) SpecStrategy::PrepareForUpdate(ctx, object, old);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateCidrs(SpecOf(object, errors));
    return errors;
  }
  /// The CIDRs are immutable, but a second one may be added.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    const auto now = TextsOf(spec, "cidrs"), before = TextsOf(SpecOf(old, errors), "cidrs");
    const bool adds = before.size() == 1 && now.size() == 2;
    if (now.size() != before.size() && !adds) {
      spec.Invalid("cidrs", "field is immutable");
      return errors;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (now[i] == before[i]) continue;
      errors.push_back(
          meta::Invalid(spec.Path().Child("cidrs").Index(i).ToString(), meta::Quoted(now[i]), "field is immutable"));
    }
    if (adds) ValidateCidrs(spec);
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), JoinTexts(meta::Find(object.Root(), "spec", "cidrs")), AgeCell(object, ages)};
}

}  // namespace

registry::Resource ServiceCidrResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("networking.k8s.io", "v1", "servicecidrs", std::make_shared<ServiceCidrStrategy>());
  if (!ActiveRuleFeatures().service_cidr_status_field_wiping) resource.reset_fields.clear();
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<registry::StatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.table = {{NameColumn(), {.name = "CIDRs", .description = "The ranges of addresses."}, AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.cidrs"}};
  return resource;
}

}  // namespace apimesh::core_api
