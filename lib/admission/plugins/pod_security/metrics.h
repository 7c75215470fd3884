#pragma once

#include <optional>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/pod_security/policy.h"
#include "lib/service/metrics.h"

namespace apimesh::admission::pod_security {

/// The metrics of kube-apiserver about Pod Security: pod_security_evaluations_total, pod_security_exemptions_total and
/// pod_security_errors_total. Thread-safe.
class Recorder {
 public:
  /// Without metrics, nothing is recorded.
  explicit Recorder(service::Metrics* metrics);

  /// Records that a policy was evaluated. `mode` is "enforce", "audit" or "warn".
  void RecordEvaluation(bool allowed, const LevelVersion& policy, std::string_view mode, const Attributes& attributes);
  /// Records a request of an exempt user, namespace or runtime class.
  void RecordExemption(const Attributes& attributes);
  /// Records an error. `fatal` errors prevent the evaluation; for others, the most restrictive level is used.
  void RecordError(bool fatal, const Attributes& attributes);

 private:
  service::Counter Evaluations(bool allowed, const LevelVersion& policy, std::string_view mode,
                               service::Labels request) const;
  service::Counter Exemptions(const service::Labels& request) const;

  service::Metrics* const metrics_;
  std::optional<service::Counter> privileged_create_;  // by far the most frequent evaluation
};

}  // namespace apimesh::admission::pod_security
