#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/resource_names.h"

namespace apimesh::core_api {
namespace {

/// Checks that the claims of a container are claims of the pod, and that no two of them overlap.
void ValidateClaimNames(const Check& resources, const std::set<std::string, std::less<>>& claims) {
  std::set<std::string, std::less<>> seen;  // "claim" or "claim/request"
  std::set<std::string_view> seen_in_part;  // claims of which a request was seen
  for (const Check& claim : resources.Each("claims")) {
    const std::string_view name = claim.Text("name"), request = claim.Text("request");
    const std::string path = claim.Path().ToString();
    if (name.empty()) {
      claim.Add(meta::Required(path, ""));
      continue;
    }
    if (seen.contains(name)) {
      claim.Add(meta::Duplicate(path, meta::Quoted(name)));
    } else {
      claim.Names("request", meta::CheckDnsLabel);
      const std::string key = request.empty() ? std::string(name) : fmt::format("{}/{}", name, request);
      if (seen.contains(key)) {
        claim.Add(meta::Duplicate(path, meta::Quoted(key)));
      } else if (request.empty() && seen_in_part.contains(name)) {
        claim.Add(meta::Duplicate(path, meta::Quoted(name)));
      }
      if (!request.empty()) seen_in_part.insert(name);
      seen.insert(key);
    }
    if (!claims.contains(name)) {
      meta::FieldError error = meta::NotFound(path, meta::Quoted(name));
      error.detail = claims.empty() ? "must be one of the names in pod.spec.resourceClaims which is empty"
                                    : fmt::format("must be one of the names in pod.spec.resourceClaims: {}",
                                                  fmt::join(claims, ", "));
      claim.Add(std::move(error));
    }
  }
}

/// Huge pages are counted in pages: the amount must be a multiple of the size in the name of the resource.
void ValidateHugePages(const Check& resources, std::string_view field, std::string_view name,
                       const meta::Quantity& amount) {
  if (!IsHugePages(name)) return;
  const auto page = meta::Quantity::Parse(name.substr(std::string_view("hugepages-").size()));
  if (page && page->Sign() > 0 && amount.Value() % page->Value() == 0) return;
  resources.Add(meta::Invalid(resources.Path().Child(field).Key(name).ToString(), meta::Quoted(amount.ToString()),
                              fmt::format("{} is not positive integer multiple of {}", amount.ToString(), name)));
}

/// Validates the name and the amount of one resource. Returns the amount, or nullopt if it cannot be parsed.
std::optional<meta::Quantity> ValidateAmount(const Check& resources, std::string_view list, std::string_view name,
                                             const meta::json::value& value, ResourcesOf of) {
  const meta::Path path = resources.Path().Child(list).Key(name);
  if (of == ResourcesOf::kPod) {
    ValidatePodResourceName(resources, path, name);
  } else {
    ValidateContainerResourceName(resources, path, name);
  }
  std::optional<meta::Quantity> amount = QuantityOf(&value);
  if (amount) ValidateResourceAmount(resources, path, name, *amount);
  return amount;
}

Quantities ValidateLimits(const Check& resources, ResourcesOf of) {
  Quantities limits;
  const std::optional<Check> list = resources.Child("limits");
  if (!list) return limits;
  for (const auto& [key, value] : list->Object()) {
    const std::optional<meta::Quantity> amount = ValidateAmount(resources, "limits", key, value, of);
    if (!amount) continue;
    ValidateHugePages(resources, "limits", key, *amount);
    limits.emplace_back(key, *amount);
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(limits.begin(), limits.end(), by_name);
  return limits;
}

/// Compares a request with the limit of the same resource, which may be nullptr.
void CompareWithLimit(const Check& resources, std::string_view name, const meta::Quantity& amount,
                      const meta::Quantity* limit) {
  const std::string path = resources.Path().Child("requests").ToString();
  if (!limit) {
    if (!MayOvercommit(name))
      resources.Add(meta::Required(resources.Path().Child("limits").ToString(),
                                   "Limit must be set for non overcommitable resources"));
  } else if (amount != *limit && !MayOvercommit(name)) {
    resources.Add(meta::Invalid(path, meta::Quoted(amount.ToString()),
                                fmt::format("must be equal to {} limit of {}", name, limit->ToString())));
  } else if (amount > *limit) {
    resources.Add(meta::Invalid(path, meta::Quoted(amount.ToString()),
                                fmt::format("must be less than or equal to {} limit of {}", name, limit->ToString())));
  }
}

}  // namespace

void ValidateResources(const Check& holder, const std::set<std::string, std::less<>>& claims, ResourcesOf of) {
  const std::optional<Check> resources = holder.Child("resources");
  if (!resources) return;
  const Quantities limits = ValidateLimits(*resources, of);
  bool huge_pages = false, compute = false;
  const auto notice = [&](std::string_view name) {
    huge_pages = huge_pages || IsHugePages(name);
    compute = compute || name == "cpu" || name == "memory";
  };
  for (const auto& [name, amount] : limits) notice(name);
  if (const std::optional<Check> list = resources->Child("requests")) {
    for (const auto& [key, value] : list->Object()) {
      const std::string_view name = key;
      const std::optional<meta::Quantity> amount = ValidateAmount(*resources, "requests", name, value, of);
      if (!amount) continue;
      CompareWithLimit(*resources, name, *amount, FindQuantity(limits, name));
      ValidateHugePages(*resources, "requests", name, *amount);
      notice(name);
    }
  }
  if (huge_pages && !compute)
    resources->Add(meta::Forbidden(resources->Path().ToString(), "HugePages require cpu or memory"));
  ValidateClaimNames(*resources, claims);
}

}  // namespace apimesh::core_api
