#include "lib/admission/plugins/pod_security/existing_pods.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "lib/admission/plugins/pod_security/checks.h"
#include "lib/base/clock.h"

namespace apimesh::admission::pod_security {
namespace {

constexpr std::size_t kMaxPods = 3000;
constexpr auto kMaxTime = std::chrono::seconds(1);

std::string_view ControllerOf(const meta::Object& pod) {
  for (const json::value& owner : ListAt(pod.Metadata(), "ownerReferences")) {
    if (owner.is_object() && BoolAt(owner.get_object(), "controller").value_or(false))
      return meta::FindString(owner.get_object(), "uid");
  }
  return "";
}

/// Puts pods without a controller and one pod of each controller before the other pods. Removes exempt pods.
void Prioritize(std::vector<ObjectPtr>& pods, const Configuration& configuration) {
  std::erase_if(pods, [&](const ObjectPtr& pod) {
    return configuration.exempt_runtime_classes.contains(meta::FindString(SpecOf(*pod), "runtimeClassName"));
  });
  std::unordered_set<std::string_view> controllers;
  std::stable_partition(pods.begin(), pods.end(), [&](const ObjectPtr& pod) {
    const std::string_view controller = ControllerOf(*pod);
    return controller.empty() || controllers.insert(controller).second;
  });
}

struct Violators {
  std::string first;  // the first name in alphabetical order
  std::size_t count = 0;
};

std::string Describe(const std::string& reasons, const Violators& violators) {
  if (violators.count == 1) return fmt::format("{}: {}", violators.first, reasons);
  const std::size_t others = violators.count - 1;
  return fmt::format("{} (and {} other {}): {}", violators.first, others, Plural("pod", "pods", others), reasons);
}

}  // namespace

std::vector<std::string> CheckExistingPods(std::vector<ObjectPtr> pods, std::string_view ns,
                                           const LevelVersion& enforce, const Configuration& configuration,
                                           const Clock& clock) {
  const SteadyTime end = clock.Steady() + kMaxTime;
  Prioritize(pods, configuration);
  const std::size_t most = std::min(pods.size(), kMaxPods);
  std::map<std::string, Violators> violations;  // by reasons
  std::size_t checked = 0;
  while (checked < most) {
    const meta::Object& pod = *pods[checked++];
    const std::vector<Finding> findings = Evaluate(enforce, {pod.Metadata(), SpecOf(pod)});
    if (!findings.empty()) {
      Violators& violators = violations[Reasons(findings)];
      if (violators.count++ == 0 || pod.Name() < violators.first) violators.first = pod.Name();
    }
    if (clock.Steady() >= end) break;
  }
  std::vector<std::string> warnings;
  if (checked < pods.size()) {
    warnings.push_back(fmt::format(
        "new PodSecurity enforce level only checked against the first {} of {} existing pods", checked, pods.size()));
  }
  if (violations.empty()) return warnings;
  warnings.push_back(fmt::format("existing pods in namespace {} violate the new PodSecurity enforce level {}",
                                 meta::Quoted(ns), meta::Quoted(enforce.ToString())));
  std::vector<std::string> of_pods;
  for (const auto& [reasons, violators] : violations) of_pods.push_back(Describe(reasons, violators));
  std::sort(of_pods.begin(), of_pods.end());
  warnings.insert(warnings.end(), of_pods.begin(), of_pods.end());
  return warnings;
}

}  // namespace apimesh::admission::pod_security
