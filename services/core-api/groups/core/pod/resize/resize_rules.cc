#include "services/core-api/groups/core/pod/resize/resize_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/qos.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

constexpr const char* kOnlyCompute = "only cpu and memory resources are mutable";

/// Whether a list of amounts lacks one of the old amounts.
bool Removes(const value* now, const value* before) {
  if (!before || !before->is_object()) return false;
  return std::any_of(before->get_object().begin(), before->get_object().end(), [&](const auto& amount) {
    return !now || !now->is_object() || !now->get_object().contains(amount.key());
  });
}

/// Adds an error for each list of amounts from which one is removed. `error` has a place for the name of the list.
void RefuseRemoval(const Check& holder, const object& before, const char* error) {
  const meta::Path path = holder.Path().Child("resources");
  for (const char* list : {"requests", "limits"}) {
    if (Removes(meta::Find(holder.Object(), "resources", list), meta::Find(before, "resources", list)))
      holder.Add(meta::Forbidden(path.Child(list).ToString(), fmt::format(fmt::runtime(error), list)));
  }
}

/// Makes the cpu and memory of an object equal to those of another one. Lists and claims that are empty then are
/// removed, so that what remains can be compared.
void RestoreCompute(object& holder, const object& before, bool with_claims) {
  object resources;
  for (const char* list : {"limits", "requests"}) {
    object amounts;
    const auto take = [&](const object& from, bool compute) {
      const value* found = meta::Find(from, "resources", list);
      if (!found || !found->is_object()) return;
      for (const auto& [name, amount] : found->get_object()) {
        if ((name == "cpu" || name == "memory") == compute) amounts[name] = amount;
      }
    };
    take(holder, false);
    take(before, true);
    if (!amounts.empty()) resources[list] = std::move(amounts);
  }
  const value* claims = meta::Find(holder, "resources", "claims");
  if (with_claims && claims) resources["claims"] = *claims;
  holder["resources"] = std::move(resources);
}

/// Compares two objects whose "resources" may be missing or have empty lists.
bool SameExceptEmpty(const object& a, const object& b) {
  const auto clean = [](const object& from) {
    object copy(from);
    value* resources = meta::FindField(copy, "resources");
    if (!resources || !resources->is_object()) return copy;
    for (const char* list : {"limits", "requests"}) {
      const value* found = meta::FindField(resources->get_object(), list);
      if (found && found->is_object() && found->get_object().empty()) meta::EraseField(resources->get_object(), list);
    }
    if (resources->get_object().empty()) meta::EraseField(copy, "resources");
    return copy;
  };
  return meta::Equal(clean(a), clean(b));
}

bool HasPodResources(const object& spec) {
  const auto has = [&](const char* list) {
    const value* found = meta::Find(spec, "resources", list);
    return found && found->is_object() && !found->get_object().empty();
  };
  return has("requests") || has("limits");
}

/// A kubelet that supports resizing reports the resources of running containers.
bool NodeSupportsResize(const meta::Object& pod) {
  for (const object& status : Objects(meta::Find(pod.Root(), "status", "containerStatuses"))) {
    if (meta::Find(status, "state", "running")) return meta::FindField(status, "resources") != nullptr;
  }
  return true;
}

/// Returns whether both specs have the same containers in the same order.
bool ValidateOrder(const Check& spec, const object& before) {
  bool same = true;
  for (const char* list : {"containers", "initContainers"}) {
    const auto now = Objects(meta::FindField(spec.Object(), list)), old = Objects(meta::FindField(before, list));
    const meta::Path path = spec.Path().Child(list);
    if (now.size() != old.size()) {
      spec.Add(meta::Forbidden(path.ToString(), fmt::format("{} may not be added or removed on resize", list)));
      same = false;
      continue;
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (meta::FindString(now[i].get(), "name") == meta::FindString(old[i].get(), "name")) continue;
      spec.Add(meta::Forbidden(path.Index(i).Child("name").ToString(),
                               fmt::format("{} may not be renamed or reordered on resize", list)));
      same = false;
    }
  }
  return same;
}

void ValidatePodLevel(const Check& spec, const object& before, object& remaining) {
  const bool had = meta::FindField(before, "resources") != nullptr;
  if (had && !spec.Has("resources")) {
    spec.Add(meta::Forbidden(spec.Path().Child("resources").ToString(), "pod-level resources cannot be removed"));
    return;
  }
  if (had) RefuseRemoval(spec, before, "pod-level resource {} cannot be removed");
  RestoreCompute(remaining, before, true);
  object now{{"resources", remaining["resources"]}}, old;
  CopyField(old, before, "resources");
  if (!SameExceptEmpty(now, old)) {
    spec.Add(meta::Forbidden(spec.Path().ToString(), "only cpu and memory resources are mutable at pod-level"));
  } else {
    CopyField(remaining, before, "resources");
  }
}

/// Sets the resources of the containers in `remaining` to the old ones, and reports all that would still differ.
void ValidateContainers(const Check& spec, const object& before, object& remaining) {
  const auto now = Objects(meta::FindField(remaining, "containers"));
  const auto old = Objects(meta::FindField(before, "containers"));
  for (std::size_t i = 0; i < now.size(); ++i) {
    RestoreCompute(now[i].get(), old[i].get(), false);
    if (!SameExceptEmpty(now[i].get(), old[i].get()))
      spec.Add(meta::Forbidden(spec.Path().ToString(), kOnlyCompute));
    else
      CopyField(now[i].get(), old[i].get(), "resources");
  }
}

constexpr std::string_view kInitContainers = "initContainers";

bool CanResizeInitContainer(const object& container) {
  return ActiveRuleFeatures().in_place_pod_vertical_scaling_init_containers ||
         meta::FindString(container, "restartPolicy") == "Always";
}

void ValidateInitContainers(const Check& spec, const object& before, object& remaining) {
  const auto now = Objects(meta::FindField(remaining, "initContainers"));
  const auto old = Objects(meta::FindField(before, "initContainers"));
  for (std::size_t i = 0; i < now.size(); ++i) {
    object& container = now[i].get();
    const std::string path = spec.Path().Child("initContainers").Index(i).ToString();
    const bool modified = !SameExceptEmpty(container, old[i].get());
    if (!CanResizeInitContainer(container)) {
      if (modified)
        spec.Add(meta::Forbidden(spec.Path().ToString(), "resources for non-sidecar init containers are immutable"));
      continue;
    }
    RestoreCompute(container, old[i].get(), false);
    if (!SameExceptEmpty(container, old[i].get())) {
      spec.Add(meta::Forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable"));
    } else {
      CopyField(container, old[i].get(), "resources");
    }
    if (!modified || meta::FindString(container, "restartPolicy") == "Always") continue;
    for (const object& policy : Objects(meta::FindField(std::as_const(container), "resizePolicy"))) {
      if (meta::FindString(policy, "restartPolicy") == "RestartContainer") {
        spec.Add(meta::Forbidden(
            path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"));
      }
    }
  }
}

}  // namespace

meta::FieldErrors ValidateResize(const meta::Object& pod, const meta::Object& old) {
  const object& before = PodSpecOf(old);
  if (FindAnnotation(old, kMirrorAnnotation)) return {meta::Forbidden("[]", "static pods cannot be resized")};
  if (meta::FindString(before, "os", "name") == "windows")
    return {meta::Forbidden("[]", "windows pods cannot be resized")};

  meta::FieldErrors errors = ValidatePodContent(pod, &old);
  const Check spec(PodSpecOf(pod), meta::Path("spec"), errors);
  const std::string_view stored_class = meta::FindString(old.Root(), "status", "qosClass");
  if ((stored_class.empty() ? QosClass(old.Root()) : stored_class) != QosClass(pod.Root())) {
    spec.Add(meta::Invalid("spec", meta::Quoted(meta::FindString(pod.Root(), "status", "qosClass")),
                           "Pod QOS Class may not change as a result of resizing"));
  }
  if (!NodeSupportsResize(old)) spec.Add(meta::Forbidden("spec", "Pod running on node without support for resize"));
  object remaining(spec.Object());
  if (HasPodResources(before) || HasPodResources(spec.Object())) {
    if (!ActiveRuleFeatures().in_place_pod_level_resources_vertical_scaling) {
      spec.Add(meta::Forbidden("[]",
                               "resize of pods with pod-level resources is forbidden when "
                               "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"));
      return errors;
    }
    ValidatePodLevel(spec, before, remaining);
  }
  if (!Objects(meta::Find(old.Root(), "status", "nodeAllocatableResourceClaimStatuses")).empty())
    spec.Add(meta::Forbidden("spec", "pods with node allocatable resource claims cannot be resized"));
  if (!ValidateOrder(spec, before)) return errors;
  for (const std::string_view list : {kInitContainers, std::string_view("containers")}) {
    const auto containers = Objects(meta::FindField(before, list));
    std::size_t index = 0;
    for (const Check& container : spec.Each(list)) {
      const object& old_container = containers[index++];
      if (list == kInitContainers && !CanResizeInitContainer(old_container)) continue;
      RefuseRemoval(container, old_container, "resource {} cannot be removed");
    }
  }
  ValidateContainers(spec, before, remaining);
  ValidateInitContainers(spec, before, remaining);
  if (errors.empty() && !meta::Equal(remaining, before)) errors.push_back(meta::Forbidden("spec", kOnlyCompute));
  return errors;
}

}  // namespace apimesh::core_api
