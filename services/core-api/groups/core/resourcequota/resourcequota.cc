#include "services/core-api/groups/core/resourcequota/resourcequota.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Names = std::set<std::string_view>;

constexpr std::string_view kTerminating = "Terminating", kNotTerminating = "NotTerminating";
constexpr std::string_view kBestEffort = "BestEffort", kNotBestEffort = "NotBestEffort";
constexpr std::string_view kCrossNamespace = "CrossNamespacePodAffinity";
constexpr std::string_view kVolumeAttributes = "VolumeAttributesClass";

bool IsScope(std::string_view scope) {
  static const Names scopes = {kTerminating,    kNotTerminating, kBestEffort,      kNotBestEffort,
                               "PriorityClass", kCrossNamespace, kVolumeAttributes};
  return scopes.contains(scope);
}

/// Whether a quota with this scope can limit this resource.
bool ScopeAllows(std::string_view scope, std::string_view resource) {
  static const Names compute = {"pods",          "cpu",          "memory",         "limits.cpu",
                                "limits.memory", "requests.cpu", "requests.memory"};
  if (!IsScope(scope)) return true;
  if (scope == kBestEffort) return resource == "pods";
  if (scope == kVolumeAttributes) return resource == "persistentvolumeclaims" || resource == "requests.storage";
  return compute.contains(resource);
}

/// Counts the resources of a quota that a scope does not allow. Each scope is counted once, because a client may repeat
/// scopes and name many resources.
class RefusedResources {
 public:
  explicit RefusedResources(const Names& hard) : hard_(hard) {}
  std::size_t Of(std::string_view scope) {
    if (!IsScope(scope)) return 0;
    const auto [found, is_new] = counts_.emplace(scope, 0);
    if (is_new) {
      found->second = std::count_if(hard_.begin(), hard_.end(), [scope](std::string_view name) {
        return IsStandardQuotaResource(name) && !ScopeAllows(scope, name);
      });
    }
    return found->second;
  }

 private:
  const Names& hard_;
  std::map<std::string_view, std::size_t> counts_;
};

Names HardNames(const Check& spec) {
  Names names;
  if (const std::optional<Check> hard = spec.Child("hard")) {
    for (const auto& [name, amount] : hard->Object()) names.insert(name);
  }
  return names;
}

void ValidateAmounts(const Check& holder, std::string_view field) {
  const std::optional<Check> amounts = holder.Child(field);
  if (!amounts) return;
  for (const auto& [key, value] : amounts->Object()) {
    const std::string_view name = key;
    ValidateQuotaResourceName(holder, amounts->Path().Key(name), name);
    if (const auto amount = QuantityOf(&value))
      ValidateResourceAmount(holder, amounts->Path().Key(name), name, *amount);
  }
}

void ValidateConflicts(const Check& spec, const Names& scopes, const meta::Path& path) {
  for (const auto& [a, b] : {std::pair(kBestEffort, kNotBestEffort), std::pair(kTerminating, kNotTerminating)}) {
    if (!scopes.contains(a) || !scopes.contains(b)) continue;
    spec.Add(meta::Invalid(path.ToString(), Shown(meta::FindField(spec.Object(), "scopes")), "conflicting scopes"));
  }
}

void ValidateScopes(const Check& spec, const Names& hard) {
  Names scopes;
  RefusedResources refused(hard);
  for (const std::string_view scope : TextsOf(spec, "scopes")) {
    if (!IsScope(scope)) spec.Invalid("scopes", "unsupported scope");
    for (std::size_t i = 0; i < refused.Of(scope) && !spec.Full(); ++i)
      spec.Invalid("scopes", "unsupported scope applied to resource");
    scopes.insert(scope);
  }
  ValidateConflicts(spec, scopes, spec.Path().Child("scopes"));
}

void ValidateOperator(const Check& requirement, const meta::Path& path) {
  const std::string_view op = requirement.Text("operator");
  const std::size_t values = SizeOf(requirement, "values");
  const std::string place = path.Child("values").ToString();
  if (op == "In" || op == "NotIn") {
    if (values == 0) {
      requirement.Add(
          meta::Required(place, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values != 0) {
      requirement.Add(
          meta::Invalid(place, Shown(meta::FindField(requirement.Object(), "values")),
                        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
    }
  } else {
    requirement.Add(
        meta::Invalid(path.Child("operator").ToString(), meta::Quoted(op), "not a valid selector operator"));
  }
}

void ValidateScopeSelector(const Check& spec, const Names& hard) {
  const std::optional<Check> selector = spec.Child("scopeSelector");
  if (!selector) return;
  const meta::Path path = selector->Path().Child("matchExpressions");
  Names scopes;
  RefusedResources refused(hard);
  for (const Check& requirement : selector->Each("matchExpressions")) {
    const std::string_view scope = requirement.Text("scopeName");
    if (!IsScope(scope))
      spec.Add(meta::Invalid(path.Child("scopeName").ToString(), meta::Quoted(scope), "unsupported scope"));
    for (std::size_t i = 0; i < refused.Of(scope) && !spec.Full(); ++i) {
      spec.Add(meta::Invalid(path.ToString(), Shown(meta::FindField(spec.Object(), "scopeSelector")),
                             "unsupported scope applied to resource"));
    }
    const bool exists_only = IsScope(scope) && scope != "PriorityClass" && scope != kVolumeAttributes;
    if (exists_only && requirement.Text("operator") != "Exists") {
      spec.Add(meta::Invalid(
          path.Child("operator").ToString(), meta::Quoted(requirement.Text("operator")),
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
          "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
          "ResourceQuotaScopeCrossNamespacePodAffinity"));
    }
    ValidateOperator(requirement, path);
    scopes.insert(scope);
  }
  ValidateConflicts(spec, scopes, path);
}

class QuotaStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    const Names hard = HardNames(spec);
    ValidateAmounts(spec, "hard");
    ValidateScopes(spec, hard);
    ValidateScopeSelector(spec, hard);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    const Check spec = SpecOf(object, errors);
    const auto now = TextsOf(spec, "scopes"), before = TextsOf(SpecOf(old, errors), "scopes");
    if (Names(now.begin(), now.end()) != Names(before.begin(), before.end()))
      spec.Invalid("scopes", "field is immutable");
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (old) return warnings;
    const auto hard = [&object](std::string_view name) {
      return QuantityOf(meta::Find(object.Root(), "spec", "hard", name));
    };
    for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
      std::string request_name = "requests." + name;
      std::optional<meta::Quantity> request = hard(request_name);
      if (!request && (name == "cpu" || name == "memory") && hard(name)) request = hard(request_name = name);
      const std::string limit_name = "limits." + name;
      const std::optional<meta::Quantity> limit = hard(limit_name);
      if (!request || !limit || *request <= *limit) continue;
      warnings.push_back(fmt::format("ResourceQuota {} ({}) should be less than {} ({})", request_name,
                                     request->ToString(), limit_name, limit->ToString()));
    }
    return warnings;
  }
};

class QuotaStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    const std::optional<Check> status = root.Child("status");
    if (!status) return errors;
    ValidateAmounts(*status, "hard");
    ValidateAmounts(*status, "used");
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  std::map<std::string, std::string> hard;
  if (const json::value* list = meta::Find(root, "status", "hard"); list && list->is_object()) {
    for (const auto& [name, value] : list->get_object())
      hard[std::string(name)] = QuantityOf(&value).value_or(meta::Quantity()).ToString();
  }
  std::string requests, limits;
  for (const auto& [name, amount] : hard) {
    std::string& cell = name.starts_with("limits.") ? limits : requests;
    const std::string used = QuantityOf(meta::Find(root, "status", "used", name)).value_or(meta::Quantity()).ToString();
    cell += fmt::format("{}{}: {}/{}", cell.empty() ? "" : ", ", name, used, amount);
  }
  return {json::string(object.Name()), requests, limits, AgeCell(object, ages)};
}

}  // namespace

registry::Resource ResourceQuotaResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "resourcequotas", std::make_shared<QuotaStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<QuotaStatusStrategy>(resource.strategy);
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(),
                     {.name = "Request", .description = "Used and allowed amounts of requests and objects."},
                     {.name = "Limit", .description = "Used and allowed amounts of limits."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status.hard", "status.used"}};
  return resource;
}

}  // namespace apimesh::core_api
