#include "services/core-api/groups/core/pod_spec/ratcheting.h"

#include <algorithm>
#include <optional>

#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

/// A rule that kube-apiserver added after pods could break it. It is recognized by parts of the path and of the text of
/// its errors.
struct YoungRule {
  std::string_view field, field_end, detail;

  bool Matches(const meta::FieldError& error) const {
    const std::size_t begin = error.field.find(field);
    return begin != std::string::npos && error.field.find(field_end, begin + field.size()) != std::string::npos &&
           error.detail.find(detail) != std::string::npos;
  }
};

constexpr YoungRule kYoungRules[] = {
    {"", "", "is not positive integer multiple of"},
    {".affinity.pod", ".values[", ""},
    {".nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", ".values[", ""},
    {".topologySpreadConstraints[", ".labelSelector", ""},
    {".topologySpreadConstraints[", ".matchLabelKeys", ""},
    {".restartPolicyRules[", ".action", "supported values"},
    {".securityContext.seLinuxChangePolicy", "", "supported values"},
    {".tolerations[", ".operator", "\"Lt\""},
    {".hostNetwork", "", "when `hostUsers` is false"},
    {".volumes[", ".serviceAccountToken.path", "must "},
    {".securityContext.sysctls[", "", "may not be specified when 'host"},
    {"", ".volumeDevices", "when `hostUsers` is false"},
    {".initContainers[", ".resizePolicy[", "for non-sidecar initContainers"},
};

}  // namespace

void DropToleratedErrors(meta::FieldErrors& errors, const meta::json::object& old, const meta::Path& path,
                         std::string_view pod_name) {
  std::optional<meta::FieldErrors> old_errors;  // computed only if an error could be tolerated
  for (const YoungRule& rule : kYoungRules) {
    const auto matches = [&](const meta::FieldError& error) { return rule.Matches(error); };
    if (std::none_of(errors.begin(), errors.end(), matches)) continue;
    if (!old_errors) old_errors = ValidatePodSpec(old, path, pod_name);
    if (std::any_of(old_errors->begin(), old_errors->end(), matches)) errors.EraseIf(matches);
  }
}

}  // namespace apimesh::core_api
