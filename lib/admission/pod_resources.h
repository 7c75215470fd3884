#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "lib/meta/object.h"
#include "lib/meta/quantity.h"

namespace apimesh::admission {

/// Amounts by resource name ("cpu", "memory", "example.com/gpu").
using Amounts = std::map<std::string, meta::Quantity, std::less<>>;

/// Reads a ResourceList such as spec.resources.requests. Amounts that cannot be parsed are omitted.
Amounts ReadAmounts(const meta::json::object& list);
/// Adds amounts to a sum.
void AddAmounts(Amounts& sum, const Amounts& more);

/// Sets each amount of `to` to the larger one of both.
void TakeLarger(Amounts& to, const Amounts& from);

/// Returns the `requests` or `limits` of a container.
using ContainerAmounts = std::function<Amounts(const meta::json::object& container, std::string_view kind)>;
/// The amounts in the spec of the container.
Amounts SpecAmounts(const meta::json::object& container, std::string_view kind);

/// Returns the total `requests` or `limits` of a pod's spec: the sum of the containers that run at the same time, or
/// the largest init container plus the sidecars that run beside it, if that is more. Amounts at pod level replace the
/// totals of the containers for which `pod_level(name)` is true.
Amounts PodTotal(const meta::json::object& spec, std::string_view kind, bool (*pod_level)(std::string_view name),
                 const ContainerAmounts& of_container = &SpecAmounts);

/// Returns whether the pod has no cpu or memory requests or limits. Such pods leave a node first if it runs out of
/// memory.
bool IsBestEffort(const meta::Object& pod);
/// Returns whether this is a sidecar: an init container that runs as long as the pod.
bool IsSidecar(const meta::json::object& init_container);

/// Extended resources have a domain outside of kubernetes.io.
bool IsExtendedResource(std::string_view name);

/// Resources that can be set at pod level.
inline bool IsCpuOrMemory(std::string_view name) { return name == "cpu" || name == "memory"; }
inline bool IsPodLevelResource(std::string_view name) { return IsCpuOrMemory(name) || name.starts_with("hugepages-"); }

}  // namespace apimesh::admission
