#include "services/aggregator/apiservices/automatic.h"

#include <fmt/format.h>

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr std::string_view kOnStart = "onstart", kAlways = "true";

std::string_view ManagementOf(const meta::Object* object) {
  const json::string* label = object ? object->Label(kAutomanaged) : nullptr;
  return label ? std::string_view(*label) : std::string_view();
}

bool SameSpec(const meta::Object& a, const meta::Object& b) {
  const json::value* one = meta::FindField(a.Root(), "spec");
  const json::value* other = meta::FindField(b.Root(), "spec");
  return one && other && *one == *other;
}

}  // namespace

meta::Object MakeApiService(const AutomaticApiService& automatic) {
  const mesh::GroupVersionDescription& gv = *automatic.version;
  const std::string_view management = automatic.custom ? kAlways : kOnStart;
  json::object spec;
  if (!gv.group.empty()) spec["group"] = gv.group;
  spec["version"] = gv.version;
  spec["groupPriorityMinimum"] = gv.group_priority_minimum;
  spec["versionPriority"] = gv.version_priority;
  return meta::Object(
      json::object{{"kind", "APIService"},
                   {"apiVersion", "apiregistration.k8s.io/v1"},
                   {"metadata", {{"name", gv.version + "." + gv.group}, {"labels", {{kAutomanaged, management}}}}},
                   {"spec", std::move(spec)}});
}

std::set<std::string> ChangedNames(const AutomaticApiServiceMap& before, const AutomaticApiServiceMap& after) {
  std::set<std::string> names;
  auto old = before.begin();
  auto next = after.begin();
  while (old != before.end() || next != after.end()) {
    const bool removed = next == after.end() || (old != before.end() && old->first < next->first);
    const bool added = !removed && (old == before.end() || next->first < old->first);
    if (removed || added || old->second != next->second) names.insert(removed ? old->first : next->first);
    if (!added) ++old;
    if (!removed) ++next;
  }
  return names;
}

std::optional<AutomaticApiServiceMap> AutomaticApiServices(const Routes& routes) {
  AutomaticApiServiceMap made;
  auto next = made.end();
  for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
    const Delegate& delegate = routes.delegates[i];
    if (delegate.kind != Delegate::Kind::kChain) continue;
    if (!delegate.description) return std::nullopt;
    for (const mesh::GroupVersionPtr& gv : delegate.description->group_versions) {
      const bool custom = IsFromDefinitions(i, *gv);
      // Most names follow the one before.
      next = std::next(made.try_emplace(next, gv->version + "." + gv->group, AutomaticApiService{gv, custom}));
    }
  }
  return made;
}

Upkeep Decide(const meta::Object* desired, const meta::Object* current, bool at_start, bool synced) {
  if (!current && !desired) return Upkeep::kNothing;
  if (ManagementOf(desired) == kOnStart && synced) return Upkeep::kNothing;
  if (!current) return Upkeep::kCreate;
  const std::string_view management = ManagementOf(current);
  if (management != kOnStart && management != kAlways) return Upkeep::kNothing;
  if (management == kOnStart && (!at_start || synced)) return Upkeep::kNothing;
  if (!desired) return Upkeep::kDelete;
  return SameSpec(*desired, *current) ? Upkeep::kNothing : Upkeep::kUpdate;
}

}  // namespace apimesh::aggregator
