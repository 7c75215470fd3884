#include "services/core-api/groups/core/pod/qos.h"

#include "lib/meta/quantity.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using Amounts = std::map<std::string_view, meta::Quantity>;

/// Returns the amounts of cpu and memory in one list that are not zero.
Amounts Read(const meta::json::object& holder, std::string_view kind) {
  Amounts amounts;
  for (const std::string_view name : {"cpu", "memory"}) {
    const std::string_view text = meta::FindString(holder, "resources", kind, name);
    if (text.empty()) continue;
    if (const auto amount = meta::Quantity::Parse(text); amount && amount->Sign() > 0) amounts.emplace(name, *amount);
  }
  return amounts;
}

}  // namespace

std::string_view QosClass(const meta::json::object& pod) {
  const meta::json::value* spec_value = meta::FindField(pod, "spec");
  if (!spec_value || !spec_value->is_object()) return "BestEffort";
  const meta::json::object& spec = spec_value->get_object();
  std::vector<std::reference_wrapper<const meta::json::object>> holders;
  const meta::json::value* resources = meta::FindField(spec, "resources");
  if (ActiveRuleFeatures().pod_level_resources && resources && resources->is_object()) {
    holders.emplace_back(spec);  // resources at pod level take precedence over those of the containers
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const meta::json::object& container : Objects(meta::FindField(spec, list))) holders.emplace_back(container);
    }
  }
  Amounts requests, limits;
  bool guaranteed = true;
  for (const meta::json::object& holder : holders) {
    for (const auto& [name, amount] : Read(holder, "requests")) requests[name].Add(amount);
    const Amounts own = Read(holder, "limits");
    if (own.size() < 2) guaranteed = false;
    for (const auto& [name, amount] : own) limits[name].Add(amount);
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return guaranteed && requests == limits ? "Guaranteed" : "Burstable";
}

}  // namespace apimesh::core_api
