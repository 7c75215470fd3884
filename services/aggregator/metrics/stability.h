#pragma once

#include <string_view>

namespace apimesh::aggregator {

/// How firmly kube-apiserver promises that a metric keeps its name, type and labels: "STABLE", "BETA" or "ALPHA".
std::string_view StabilityOf(std::string_view metric);

}  // namespace apimesh::aggregator
