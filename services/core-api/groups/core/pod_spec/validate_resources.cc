#include <fmt/format.h>

#include "lib/meta/quantity.h"
#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

using Amounts = std::map<std::string, meta::Quantity, std::less<>>;

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

/// Resources of Kubernetes itself: no domain, or one below kubernetes.io.
bool IsNative(std::string_view name) { return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos; }

bool MayOvercommit(std::string_view name) { return IsNative(name) && !IsHugePages(name); }

void ValidateName(const Check& list, std::string_view name) {
  const std::string path = list.Path().Key(name).ToString();
  const meta::Complaints complaints = meta::CheckQualifiedName(name);
  for (const std::string& complaint : complaints) list.Add(meta::Invalid(path, meta::Quoted(name), complaint));
  if (!complaints.empty()) return;
  if (name.find('/') == std::string_view::npos) {
    static constexpr std::string_view kContainer[] = {"cpu", "memory", "ephemeral-storage"};
    static constexpr std::string_view kStandard[] = {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
                                                     "persistentvolumeclaims", "storage", "requests.cpu", "requests.memory", "requests.storage",
                                                     "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"};
    if (IsHugePages(name) || std::find(std::begin(kContainer), std::end(kContainer), name) != std::end(kContainer)) return;
    if (std::find(std::begin(kStandard), std::end(kStandard), name) == std::end(kStandard)) {
      list.Add(meta::Invalid(path, meta::Quoted(name), "must be a standard resource type or fully qualified"));
    }
    list.Add(meta::Invalid(path, meta::Quoted(name), "must be a standard resource for containers"));
  } else if (!IsNative(name) && name.starts_with("requests.")) {
    list.Add(meta::Invalid(path, meta::Quoted(name), "doesn't follow extended resource name standard"));
  }
}

Amounts ValidateList(const Check& list) {
  Amounts amounts;
  for (const auto& [key, value] : list.Object()) {
    const std::string_view name = key;
    ValidateName(list, name);
    if (!value.is_string()) continue;
    const auto amount = meta::Quantity::Parse(value.get_string());
    if (!amount) continue;
    const std::string path = list.Path().Key(name).ToString();
    if (amount->Sign() < 0) list.Add(meta::Invalid(path, meta::Quoted(amount->ToString()), "must be greater than or equal to 0"));
    if (!MayOvercommit(name) && !IsHugePages(name) && amount->MilliValue() % 1000 != 0) {
      list.Add(meta::Invalid(path, meta::Quoted(amount->ToString()), "must be an integer"));
    }
    amounts.emplace(name, *amount);
  }
  return amounts;
}

}  // namespace

void ValidateResources(const Check& holder, const std::set<std::string, std::less<>>& claims) {
  const std::optional<Check> resources = holder.Child("resources");
  if (!resources) return;
  Amounts limits, requests;
  if (const std::optional<Check> list = resources->Child("limits")) limits = ValidateList(*list);
  if (const std::optional<Check> list = resources->Child("requests")) requests = ValidateList(*list);
  const std::string request_path = resources->Path().Child("requests").ToString();
  for (const auto& [name, amount] : requests) {
    const auto limit = limits.find(name);
    if (limit == limits.end()) {
      if (!MayOvercommit(name)) resources->Add(meta::Required(resources->Path().Child("limits").ToString(), "Limit must be set for non overcommitable resources"));
    } else if (amount != limit->second && !MayOvercommit(name)) {
      resources->Add(meta::Invalid(request_path, meta::Quoted(amount.ToString()), fmt::format("must be equal to {} limit of {}", name, limit->second.ToString())));
    } else if (amount > limit->second) {
      resources->Add(meta::Invalid(request_path, meta::Quoted(amount.ToString()),
                                   fmt::format("must be less than or equal to {} limit of {}", name, limit->second.ToString())));
    }
  }
  const auto any = [&](auto predicate) {
    return std::any_of(limits.begin(), limits.end(), predicate) || std::any_of(requests.begin(), requests.end(), predicate);
  };
  if (any([](const auto& one) { return IsHugePages(one.first); }) && !any([](const auto& one) { return one.first == "cpu" || one.first == "memory"; })) {
    resources->Add(meta::Forbidden(resources->Path().ToString(), "HugePages require cpu or memory"));
  }
  std::set<std::string_view> seen;
  for (const Check& claim : resources->Each("claims")) {
    if (!claim.Require("name")) continue;
    if (!seen.insert(claim.Text("name")).second) claim.Add(meta::Duplicate(claim.Path().ToString(), meta::Quoted(claim.Text("name"))));
    if (!claims.contains(claim.Text("name"))) claim.Add(meta::NotFound(claim.Path().ToString(), meta::Quoted(claim.Text("name"))));
  }
}

}  // namespace apimesh::core_api
