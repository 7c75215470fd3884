#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/admission/plugin.h"
#include "lib/base/clock.h"
#include "lib/service/metrics.h"

namespace apimesh::admission {

/// Durations and rejections of admission, with the metric names and labels of kube-apiserver:
/// apiserver_admission_step_admission_duration_seconds (a histogram, and with _summary a summary) and
/// apiserver_admission_controller_admission_duration_seconds.
/// Thread-safe.
class ChainMetrics {
 public:
  /// `plugins` are the names of the chain's plugins, in order. `metrics` must outlive this object.
  ChainMetrics(service::Metrics& metrics, std::vector<std::string> plugins);

  /// Records one phase of all plugins.
  void ObserveStep(Phase phase, Operation operation, bool rejected, Duration elapsed);
  /// Records one phase of the plugin with this index.
  void ObservePlugin(std::size_t plugin, Phase phase, Operation operation, bool rejected, Duration elapsed);

 private:
  /// The series of all phases, operations and outcomes. A series is created on first use, so that unused series do not
  /// appear in /metrics.
  static constexpr std::size_t kSeries = 2 * 4 * 2;
  using Series = std::array<std::atomic<service::Histogram*>, kSeries>;
  /// What was observed of each series of the step.
  struct Sum {
    std::atomic<double> seconds{0};
    std::atomic<std::uint64_t> count{0};
  };
  using Sums = std::array<Sum, kSeries>;
  static std::vector<service::MetricFamily> Summary(const Sums& sums);
  service::Histogram& Find(Series& series, const std::string* plugin, Phase phase, Operation operation, bool rejected);

  service::Metrics& metrics_;
  const std::vector<std::string> names_;
  Series step_{};
  const std::shared_ptr<Sums> sums_ = std::make_shared<Sums>();  // shared with the source of `metrics_`
  std::deque<Series> plugins_;
  std::mutex mutex_;
  std::deque<service::Histogram> made_;  // guarded by mutex_
};

}  // namespace apimesh::admission
