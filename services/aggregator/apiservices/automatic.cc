#include "services/aggregator/apiservices/automatic.h"

#include <fmt/format.h>

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr std::string_view kOnStart = "onstart", kAlways = "true";
constexpr const char* kDefinitions = "apiextensions.k8s.io";  // the one group of extensions-api that is always there

std::string_view ManagementOf(const meta::Object* object) {
  const json::string* label = object ? object->Label(kAutomanaged) : nullptr;
  return label ? std::string_view(*label) : std::string_view();
}

meta::Object Make(const rpc::GroupVersionDescription& gv, std::string_view management) {
  json::object spec;
  if (!gv.group.empty()) spec["group"] = gv.group;
  spec["version"] = gv.version;
  spec["groupPriorityMinimum"] = gv.group_priority_minimum;
  spec["versionPriority"] = gv.version_priority;
  return meta::Object(json::object{{"kind", "APIService"},
                                   {"apiVersion", "apiregistration.k8s.io/v1"},
                                   {"metadata", {{"name", gv.version + "." + gv.group}, {"labels", {{kAutomanaged, management}}}}},
                                   {"spec", std::move(spec)}});
}

bool SameSpec(const meta::Object& a, const meta::Object& b) {
  const json::value* one = meta::FindField(a.Root(), "spec");
  const json::value* other = meta::FindField(b.Root(), "spec");
  return one && other && *one == *other;
}

}  // namespace

std::optional<std::map<std::string, meta::Object>> AutomaticApiServices(const Routes& routes) {
  std::map<std::string, meta::Object> made;
  for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
    const Delegate& delegate = routes.delegates[i];
    if (delegate.kind != Delegate::Kind::kChain) continue;
    if (!delegate.description) return std::nullopt;
    for (const rpc::GroupVersionDescription& gv : delegate.description->group_versions) {
      const bool custom = i > 0 && gv.group != kDefinitions;  // the head of the chain has built-in groups only
      made.try_emplace(gv.version + "." + gv.group, Make(gv, custom ? kAlways : kOnStart));
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
