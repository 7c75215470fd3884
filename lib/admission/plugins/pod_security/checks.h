#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/pod_security/policy.h"

/// The controls of the Pod Security Standards. Each control is one function per change of its rules.
namespace apimesh::admission::pod_security {

/// A pod or the template of one.
struct PodView {
  const json::object& metadata;
  const json::object& spec;
};

/// What a control found. An empty reason means that the pod complies.
struct Finding {
  std::string reason;
  std::string detail;
};
using CheckPod = Finding (*)(const PodView& pod);

struct CheckVersion {
  int minor;  // the first version 1.x with these rules
  CheckPod check;
  std::string_view overrides = "";  // the id of a baseline control that this control of "restricted" replaces
};
struct Control {
  std::string_view id;
  std::span<const CheckVersion> versions;  // ascending
};
/// Both lists are sorted by id, which is the order of the messages.
std::span<const Control> BaselineControls();
std::span<const Control> RestrictedControls();

/// Returns what all controls of a level found. Versions later than the last change of the rules are the same as it.
std::vector<Finding> Evaluate(const LevelVersion& policy, const PodView& pod);

/// Returns "reason, reason".
std::string Reasons(const std::vector<Finding>& findings);
/// Returns "reason (detail), reason (detail)".
std::string Details(const std::vector<Finding>& findings);

// Parts of messages.
using Names = std::vector<std::string>;
/// Returns `"a", "b"`.
template <class Container>
std::string Quote(const Container& items) {
  std::string text;
  for (const auto& item : items) {
    text += text.empty() ? "\"" : ", \"";
    text += item;
    text += '"';
  }
  return text;
}
inline std::string_view Plural(std::string_view one, std::string_view many, std::size_t count) {
  return count == 1 ? one : many;
}
/// Returns `container "a"` or `containers "a", "b"`.
std::string Containers(const Names& names);
/// Returns `pod and containers "a"`, where the pod is named if `pod` is true.
std::string Setters(bool pod, const Names& containers);
inline const json::object& SecurityContext(const json::object& owner) { return ObjectAt(owner, "securityContext"); }
inline std::string NameOf(const json::object& object) { return std::string(meta::FindString(object, "name")); }

// Controls that both levels use.
Finding CheckProcMount(const PodView& pod);
bool IsAllowedSeccompType(std::string_view type);

}  // namespace apimesh::admission::pod_security
