#include "services/aggregator/metrics/server_info.h"

#include "lib/features/feature_gates.h"
#include "lib/meta/kubernetes_version.h"

namespace apimesh::aggregator {
namespace {

const char* StageLabel(features::Stage stage) {
  switch (stage) {
    case features::Stage::kAlpha: return "ALPHA";
    case features::Stage::kBeta: return "BETA";
    case features::Stage::kDeprecated: return "DEPRECATED";
    case features::Stage::kGa: break;
  }
  return "";
}

}  // namespace

void DescribeServer(service::Metrics& metrics, const std::string& version,
                    const std::vector<std::string>& feature_gates) {
  metrics
      .GetGauge("kubernetes_build_info", "The version of this build; the value is always 1.",
                {{"major", std::to_string(meta::kKubernetesMajor)},
                 {"minor", std::to_string(meta::kKubernetesMinor)},
                 {"git_version", version.empty() ? std::string(meta::kKubernetesVersion) : version},
                 {"git_commit", ""},
                 {"git_tree_state", "clean"},
                 {"build_date", "1970-01-01T00:00:00Z"},
                 {"go_version", ""},
                 {"compiler", "gcc"},
                 {"platform", "linux/amd64"}})
      .Set(1);
  const features::FeatureGates gates(feature_gates);
  for (const features::Gate& gate : features::AllGates()) {
    metrics
        .GetGauge("kubernetes_feature_enabled", "Whether the feature gate is on.",
                  {{"name", std::string(gate.name)}, {"stage", StageLabel(gate.stage)}})
        .Set(gates.Enabled(gate.name) ? 1 : 0);
  }
  // No metric of this build is deprecated, so none is hidden.
  metrics.GetCounter("hidden_metrics_total", "Metrics that are hidden because they are deprecated.");
}

}  // namespace apimesh::aggregator
