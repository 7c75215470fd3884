#pragma once

#include <set>
#include <string>

#include "lib/base/text/text_index.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/walk.h"

/// Validation of pod specs, for pods and for the templates of workloads. Errors are in the order of kube-apiserver.
namespace apimesh::core_api {

/// Validates a complete pod spec. `pod_name` is empty for templates.
meta::FieldErrors ValidatePodSpec(const meta::json::object& spec, const meta::Path& path,
                                  std::string_view pod_name = "");

/// Calls `visit` for each container of the three lists, in the order of kube-apiserver.
template <class Visit>
void ForEachContainer(const Check& spec, Visit visit) {
  for (const char* list : kContainerLists) {
    for (const Check& container : spec.Each(list)) visit(container);
  }
}

// The parts of ValidatePodSpec(), one file per part.
/// The well-formed volumes of a pod. The names refer to the document.
struct PodVolumes {
  TextIndex names;
  TextIndex claims;  // the volumes that are claims, which can be block devices
};
PodVolumes ValidateVolumes(const Check& spec, std::string_view pod_name);
/// Validates the object of a projected volume.
void ValidateProjectedVolume(const Check& source);
/// Validates a file of the downward API. kube-apiserver reports its errors at `list`, the object that has the files.
void ValidateDownwardFile(const Check& file, const Check& list);
/// Validates the files for keys of a Secret or ConfigMap.
void ValidateKeyToPath(const Check& item);
void ValidateFileMode(const Check& holder, std::string_view field);
/// Checks that a path is relative to the volume and has no segment that begins with "..".
void ValidateLocalPath(const Check& holder, std::string_view field);

struct ContainerContext {
  PodVolumes volumes;
  std::set<std::string, std::less<>> claims;
  std::string_view restart_policy;
  std::optional<std::int64_t> grace_period;
  bool host_users = true;
};
void ValidateContainers(const Check& spec, const ContainerContext& context);
/// Checks that the image does not begin or end with white space. Templates are exempt.
void ValidateImageSpaces(const Check& container);
/// Validates volumeMounts and volumeDevices of a container.
void ValidateMounts(const Check& container, const PodVolumes& volumes);
void ValidateEnv(const Check& container);
/// Checks that environment variables from files refer to volumes of type emptyDir.
void ValidateEnvFileVolumes(const Check& spec);
/// Validates a reference to a field of the pod; `fields` are the supported paths, sorted.
void ValidateFieldRef(const Check& ref, const std::vector<std::string>& fields);
/// A reference in a volume must name the container, one in an environment variable refers to its own container.
enum class ResourceRefIn { kEnvironment, kVolume };
void ValidateResourceRef(const Check& ref, ResourceRefIn where);
void ValidateProbes(const Check& container, std::optional<std::int64_t> grace_period);
void ValidateLifecycle(const Check& container, std::optional<std::int64_t> grace_period);
enum class ResourcesOf { kContainer, kPod };
/// Validates requests, limits and claims in the field "resources" of `holder`.
void ValidateResources(const Check& holder, const std::set<std::string, std::less<>>& claims, ResourcesOf of);
/// Validates the resources of the pod as a whole, also against those of its containers.
void ValidatePodResources(const Check& spec, const std::set<std::string, std::less<>>& claims);
void ValidateTolerations(const Check& spec);
void ValidateAffinity(const Check& spec);
/// Validates a NodeSelector. `check_values`: the values of expressions must be valid label values.
void ValidateNodeSelector(const Check& selector, bool check_values);
void ValidateTopologySpread(const Check& spec);
void ValidateDnsConfig(const Check& spec);
void ValidatePodSecurityContext(const Check& spec);
/// `host_users` is false if the pod has its own user namespace.
void ValidateSecurityContext(const Check& container, bool host_users);
/// Checks that all containers of a Windows pod are HostProcess containers if one of them is.
void ValidateHostProcess(const Check& spec);
/// Checks that a pod with its own user namespace shares no other namespace with the node.
void ValidateUserNamespace(const Check& spec);
/// Checks spec.os, and that there are no fields of the other operating system.
void ValidateOs(const Check& spec);

/// Validates a port number or a port name in an int-or-string field.
void ValidatePortOrName(const Check& holder, std::string_view field);

}  // namespace apimesh::core_api
