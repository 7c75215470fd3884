#include "lib/admission/plugins/pod_security/checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::admission::pod_security {
namespace {

/// Returns the rules of a control in version 1.`minor`, or nullptr if it did not exist yet.
const CheckVersion* Select(const Control& control, int minor) {
  const CheckVersion* selected = nullptr;
  for (const CheckVersion& version : control.versions) {
    if (version.minor <= minor) selected = &version;
  }
  return selected;
}

void Run(const CheckVersion& version, const PodView& pod, std::vector<Finding>& findings) {
  Finding finding = version.check(pod);
  if (!finding.reason.empty()) findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> Evaluate(const LevelVersion& policy, const PodView& pod) {
  std::vector<Finding> findings;
  if (policy.level == Level::kPrivileged) return findings;
  const int minor = policy.version.minor == Version::kLatest ? std::numeric_limits<int>::max() : policy.version.minor;
  std::vector<const CheckVersion*> restricted;
  if (policy.level == Level::kRestricted) {
    for (const Control& control : RestrictedControls()) {
      if (const CheckVersion* version = Select(control, minor)) restricted.push_back(version);
    }
  }
  for (const Control& control : BaselineControls()) {
    const bool replaced = std::any_of(restricted.begin(), restricted.end(), [&control](const CheckVersion* version) {
      return version->overrides == control.id;
    });
    const CheckVersion* version = replaced ? nullptr : Select(control, minor);
    if (version) Run(*version, pod, findings);
  }
  for (const CheckVersion* version : restricted) Run(*version, pod, findings);
  return findings;
}

std::string Reasons(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : ", ") + finding.reason;
  return text;
}

std::string Details(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += ", ";
    text += finding.reason;
    if (!finding.detail.empty()) text += fmt::format(" ({})", finding.detail);
  }
  return text;
}

std::string Containers(const Names& names) {
  return fmt::format("{} {}", Plural("container", "containers", names.size()), Quote(names));
}

std::string Setters(bool pod, const Names& containers) {
  if (containers.empty()) return pod ? "pod" : "";
  return (pod ? "pod and " : "") + Containers(containers);
}

}  // namespace apimesh::admission::pod_security
