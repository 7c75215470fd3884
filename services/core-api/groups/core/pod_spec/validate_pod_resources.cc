#include <fmt/format.h>

#include "lib/admission/pod_resources.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/resource_names.h"

namespace apimesh::core_api {
namespace {

/// Checks that an amount of the pod is at least the total of its containers.
void ValidateAtLeast(const Check& resources, std::string_view list, std::string_view name,
                     const meta::Quantity& total) {
  const std::optional<Check> amounts = resources.Child(list);
  const auto amount = amounts ? QuantityOf(meta::FindField(amounts->Object(), name)) : std::nullopt;
  if (!amount || total <= *amount) return;
  amounts->Add(meta::Invalid(
      amounts->Path().Key(name).ToString(), meta::Quoted(amount->ToString()),
      fmt::format("must be greater than or equal to aggregate container {} of {}", list, total.ToString())));
}

/// Checks that no container has a higher limit than the pod.
void ValidateLimitsOfContainers(const Check& spec, const Check& resources) {
  const std::optional<Check> limits = resources.Child("limits");
  if (!limits) return;
  std::size_t index = 0;
  for (const Check& container : spec.Each("containers")) {
    // kube-apiserver reports these errors at a path that does not exist.
    const meta::Path path = resources.Path().Child("containers").Index(index++);
    const meta::json::value* list = meta::Find(container.Object(), "resources", "limits");
    if (!list || !list->is_object()) continue;
    for (const auto& [name, value] : list->get_object()) {
      const auto own = QuantityOf(&value), of_pod = QuantityOf(meta::FindField(limits->Object(), name));
      if (!own || !of_pod || *own <= *of_pod) continue;
      container.Add(meta::Invalid(path.Key(name).Child("limits").ToString(), meta::Quoted(own->ToString()),
                                  fmt::format("must be less than or equal to pod limits of {}", of_pod->ToString())));
    }
  }
}

}  // namespace

void ValidatePodResources(const Check& spec, const std::set<std::string, std::less<>>& claims) {
  const std::optional<Check> resources = spec.Child("resources");
  if (!resources) return;
  if (meta::FindString(spec.Object(), "os", "name") == "windows") {
    spec.Forbid("resources", "may not be set for a windows pod");
    return;
  }
  if (resources->Has("claims")) resources->Forbid("claims", "claims may not be set for Resources at pod-level");
  ValidateResources(spec, claims, ResourcesOf::kPod);
  const auto of_containers = [](std::string_view) { return false; };  // leaves out the resources at pod level
  for (const auto& [name, total] : admission::PodTotal(spec.Object(), "requests", of_containers))
    ValidateAtLeast(*resources, "requests", name, total);
  for (const auto& [name, total] : admission::PodTotal(spec.Object(), "limits", of_containers)) {
    if (IsHugePages(name)) ValidateAtLeast(*resources, "limits", name, total);
  }
  ValidateLimitsOfContainers(spec, *resources);
}

}  // namespace apimesh::core_api
