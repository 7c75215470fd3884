#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lib/meta/object.h"
#include "services/aggregator/delegation/route_table.h"

/// The APIServices that the aggregator registers automatically, one per group-version of the chain. Pure functions.
namespace apimesh::aggregator {

inline constexpr const char* kAutomanaged = "kube-aggregator.kubernetes.io/automanaged";

/// An APIService that is registered automatically. Those of custom resource definitions are maintained all the time
/// (label "true"); the others are reconciled once, when the server starts (label "onstart").
struct AutomaticApiService {
  mesh::GroupVersionPtr version;
  bool custom = false;
  bool operator==(const AutomaticApiService&) const = default;
};
using AutomaticApiServiceMap = std::map<std::string, AutomaticApiService>;  // by name

/// Returns the automatic APIServices. Returns nullopt while a server of the chain has not sent its description yet.
std::optional<AutomaticApiServiceMap> AutomaticApiServices(const Routes& routes);
/// Returns the names that have been added, removed or changed.
std::set<std::string> ChangedNames(const AutomaticApiServiceMap& before, const AutomaticApiServiceMap& after);
meta::Object MakeApiService(const AutomaticApiService& automatic);

enum class Upkeep { kNothing, kCreate, kUpdate, kDelete };
/// Decides what to do about one APIService. `at_start`: it existed when this process started. `synced`: this process
/// has already reconciled it.
Upkeep Decide(const meta::Object* desired, const meta::Object* current, bool at_start, bool synced);

}  // namespace apimesh::aggregator
