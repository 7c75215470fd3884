#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lib/meta/object.h"
#include "services/aggregator/delegation/route_table.h"

/// The APIServices that the server registers by itself, one for each group-version of the chain. Pure functions.
namespace apimesh::aggregator {

inline constexpr const char* kAutomanaged = "kube-aggregator.kubernetes.io/automanaged";

/// By name. Group-versions that come and go with definitions are kept up all the time (label "true"), the others are looked
/// at once, when the server starts (label "onstart"). nullopt: not all servers of the chain have described themselves yet.
std::optional<std::map<std::string, meta::Object>> AutomaticApiServices(const Routes& routes);

enum class Upkeep { kNothing, kCreate, kUpdate, kDelete };
/// What is to be done about one name. `at_start`: it was there when this process began; `synced`: this process has looked
/// after it before.
Upkeep Decide(const meta::Object* desired, const meta::Object* current, bool at_start, bool synced);

}  // namespace apimesh::aggregator
