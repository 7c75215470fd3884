#include "lib/admission/plugins/pod_security/metrics.h"

#include "lib/admission/fields.h"
#include "lib/base/text/text.h"
#include "lib/meta/kubernetes_version.h"

namespace apimesh::admission::pod_security {
namespace {

service::Labels LabelsOf(std::string operation, std::string resource, std::string subresource = "") {
  return {{"request_operation", std::move(operation)},
          {"resource", std::move(resource)},
          {"subresource", std::move(subresource)}};
}

service::Labels LabelsOf(const Attributes& attributes) {
  std::string resource = "controller";
  if (IsResource(attributes, "", "pods")) resource = "pod";
  if (IsResource(attributes, "", "namespaces")) resource = "namespace";
  return LabelsOf(LowerCase(ToString(attributes.operation)), std::move(resource), attributes.subresource);
}

/// Versions of the future are counted together. The level "privileged" is the same in every version.
std::string VersionLabel(const LevelVersion& policy) {
  if (policy.level == Level::kPrivileged || policy.version.minor == Version::kLatest) return "latest";
  if (policy.version.minor > meta::kKubernetesMinor) return "future";
  return "v1." + std::to_string(policy.version.minor);
}

}  // namespace

Recorder::Recorder(service::Metrics* metrics) : metrics_(metrics) {
  if (!metrics_) return;
  // kube-apiserver exports these series from the start.
  privileged_create_ = Evaluations(true, {}, "enforce", LabelsOf("create", "pod"));
  Evaluations(true, {}, "enforce", LabelsOf("update", "pod"));
  for (const char* resource : {"pod", "controller"}) {
    for (const char* operation : {"create", "update"}) Exemptions(LabelsOf(operation, resource));
  }
}

service::Counter Recorder::Evaluations(bool allowed, const LevelVersion& policy, std::string_view mode,
                                       service::Labels request) const {
  static constexpr const char* kLevels[] = {"privileged", "baseline", "restricted"};
  request["decision"] = allowed ? "allow" : "deny";
  request["policy_level"] = kLevels[static_cast<int>(policy.level)];
  request["policy_version"] = VersionLabel(policy);
  request["mode"] = mode;
  return metrics_->GetCounter("pod_security_evaluations_total",
                              "Number of policy evaluations that occurred, not counting ignored or exempt requests.",
                              request);
}

service::Counter Recorder::Exemptions(const service::Labels& request) const {
  return metrics_->GetCounter("pod_security_exemptions_total",
                              "Number of exempt requests, not counting ignored or out of scope requests.", request);
}

void Recorder::RecordEvaluation(bool allowed, const LevelVersion& policy, std::string_view mode,
                                const Attributes& attributes) {
  if (!metrics_) return;
  const bool frequent = allowed && policy.level == Level::kPrivileged && mode == "enforce" && IsPod(attributes) &&
                        attributes.operation == Operation::kCreate;
  (frequent ? *privileged_create_ : Evaluations(allowed, policy, mode, LabelsOf(attributes))).Add();
}

void Recorder::RecordExemption(const Attributes& attributes) {
  if (metrics_) Exemptions(LabelsOf(attributes)).Add();
}

void Recorder::RecordError(bool fatal, const Attributes& attributes) {
  if (!metrics_) return;
  service::Labels labels = LabelsOf(attributes);
  labels["fatal"] = fatal ? "true" : "false";
  metrics_
      ->GetCounter("pod_security_errors_total",
                   "Number of errors preventing normal evaluation. Non-fatal errors may result in the latest "
                   "restricted profile being used for evaluation.",
                   labels)
      .Add();
}

}  // namespace apimesh::admission::pod_security
