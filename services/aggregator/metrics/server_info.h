#pragma once

#include <string>
#include <vector>

#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// Sets kubernetes_build_info, kubernetes_feature_enabled and hidden_metrics_total, which do not change while the
/// server runs. `version` is the version that /version reports, and `feature_gates` has elements of --feature-gates.
void DescribeServer(service::Metrics& metrics, const std::string& version,
                    const std::vector<std::string>& feature_gates);

}  // namespace apimesh::aggregator
