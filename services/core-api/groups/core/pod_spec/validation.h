#pragma once

#include <set>
#include <string>

#include "services/core-api/groups/check.h"

/// Rules of pod specs, for pods and for the templates of workloads. Order of complaints as the reference's.
namespace apimesh::core_api {

/// Everything. `pod_name` is empty for templates.
meta::FieldErrors ValidatePodSpec(const meta::json::object& spec, const meta::Path& path, std::string_view pod_name = "");

// Its parts, one file each.
/// Returns the names of the volumes that are well formed.
std::set<std::string, std::less<>> ValidateVolumes(const Check& spec, std::string_view pod_name);

struct ContainerContext {
  std::set<std::string, std::less<>> volumes;
  std::set<std::string, std::less<>> claims;
  std::string_view restart_policy;
  std::optional<std::int64_t> grace_period;
};
void ValidateContainers(const Check& spec, const ContainerContext& context);
void ValidateEnv(const Check& container);
void ValidateProbes(const Check& container, std::optional<std::int64_t> grace_period);
void ValidateLifecycle(const Check& container, std::optional<std::int64_t> grace_period);
/// requests and limits of `holder`'s field "resources".
void ValidateResources(const Check& holder, const std::set<std::string, std::less<>>& claims);
void ValidateTolerations(const Check& spec);
void ValidateAffinity(const Check& spec);
void ValidateTopologySpread(const Check& spec);
void ValidateSecurity(const Check& spec);

/// A port number or a port name, in an int-or-string field.
void ValidatePortOrName(const Check& holder, std::string_view field);

}  // namespace apimesh::core_api
