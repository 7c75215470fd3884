#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::aggregator {

struct MetricsOptions {
  std::vector<std::string> allow_labels;
  std::string allow_labels_manifest;
  std::vector<std::string> disabled;

  MetricsOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("allow-metric-labels", allow_labels);
    flags.Bind("allow-metric-labels-manifest", allow_labels_manifest);
    flags.Bind("disabled-metrics", disabled);
  }
};

/// Which metrics /metrics shows, and which values their labels may have.
class MetricRules {
 public:
  MetricRules() = default;
  /// Throws std::runtime_error if an option is invalid.
  explicit MetricRules(const MetricsOptions& options);

  bool Disabled(std::string_view family) const { return disabled_.contains(family); }
  /// Replaces values that are not allowed in a line of this family, such as `name_bucket{label="value",le="1"} 3`.
  std::string Constrain(std::string_view family, std::string_view line) const;
  std::size_t DisabledCount() const { return disabled_.size(); }

 private:
  using AllowedValues = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;  // by label
  void Allow(const std::string& metric_and_label, std::string_view values);
  void AllowFromFlag(std::string_view text);
  void AllowFromFile(const std::string& path);

  std::set<std::string, std::less<>> disabled_;
  std::map<std::string, AllowedValues, std::less<>> allowed_;  // by family
};

}  // namespace apimesh::aggregator
