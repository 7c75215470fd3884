#pragma once

#include <optional>

#include "lib/base/clock.h"
#include "lib/service/metrics.h"

namespace apimesh::extensions_api {

/// kube-apiserver's metrics of x-kubernetes-validations (apiserver_cel_*). Cheap to copy, thread-safe.
class RuleMetrics {
 public:
  RuleMetrics() = default;  // measures nothing
  /// `metrics` and `clock` must outlive the object.
  RuleMetrics(service::Metrics& metrics, const Clock& clock)
      : clock_(&clock),
        compilation_(
            Get(metrics, "apiserver_cel_compilation_duration_seconds", "Time to compile the rules of a schema.")),
        evaluation_(
            Get(metrics, "apiserver_cel_evaluation_duration_seconds", "Time to evaluate the rules for an object.")) {}

  template <class Function>
  auto MeasureCompilation(const Function& run) const {
    return Measure(compilation_, run);
  }
  template <class Function>
  auto MeasureEvaluation(const Function& run) const {
    return Measure(evaluation_, run);
  }

 private:
  static service::Histogram Get(service::Metrics& metrics, const char* name, const char* help) {
    return metrics.GetHistogram(name, help, {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  }
  template <class Function>
  auto Measure(std::optional<service::Histogram> histogram, const Function& run) const {
    if (!histogram) return run();
    const SteadyTime began = clock_->Steady();
    auto result = run();
    histogram->Observe(std::chrono::duration<double>(clock_->Steady() - began).count());
    return result;
  }

  const Clock* clock_ = nullptr;
  std::optional<service::Histogram> compilation_, evaluation_;
};

}  // namespace apimesh::extensions_api
