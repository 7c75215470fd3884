#include "lib/admission/chain_metrics.h"

namespace apimesh::admission {
namespace {

constexpr const char* kStep = "apiserver_admission_step_admission_duration_seconds";
constexpr const char* kStepHelp =
    "Duration of a phase of admission (type admit or validate) in seconds, all plugins together, by operation.";
constexpr const char* kController = "apiserver_admission_controller_admission_duration_seconds";
constexpr const char* kControllerHelp =
    "Duration of a phase of an admission plugin (type admit or validate) in seconds, by plugin and operation.";

constexpr const char* kSummary = "apiserver_admission_step_admission_duration_seconds_summary";

std::size_t IndexOf(Phase phase, Operation operation, bool rejected) {
  return (static_cast<std::size_t>(phase) * 4 + static_cast<std::size_t>(operation)) * 2 + (rejected ? 1 : 0);
}

service::Labels LabelsOf(Phase phase, Operation operation, bool rejected) {
  return {{"type", phase == Phase::kMutate ? "admit" : "validate"},
          {"operation", std::string(ToString(operation))},
          {"rejected", rejected ? "true" : "false"}};
}

}  // namespace

ChainMetrics::ChainMetrics(service::Metrics& metrics, std::vector<std::string> plugins)
    : metrics_(metrics), names_(std::move(plugins)), plugins_(names_.size()) {
  metrics_.AddSource([sums = sums_] { return Summary(*sums); });
}

std::vector<service::MetricFamily> ChainMetrics::Summary(const Sums& sums) {
  service::MetricFamily family{kSummary, kStepHelp, service::MetricFamily::Type::kSummary, {}};
  for (const Phase phase : {Phase::kMutate, Phase::kValidate}) {
    for (const Operation operation :
         {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect}) {
      for (const bool rejected : {false, true}) {
        const Sum& sum = sums[IndexOf(phase, operation, rejected)];
        const std::uint64_t count = sum.count.load(std::memory_order_relaxed);
        if (count == 0) continue;
        family.series.push_back(
            {LabelsOf(phase, operation, rejected), sum.seconds.load(std::memory_order_relaxed), count});
      }
    }
  }
  if (family.series.empty()) return {};
  return {std::move(family)};
}

service::Histogram& ChainMetrics::Find(Series& series, const std::string* plugin, Phase phase, Operation operation,
                                       bool rejected) {
  const std::size_t index = IndexOf(phase, operation, rejected);
  if (service::Histogram* known = series[index].load(std::memory_order_acquire)) return *known;
  service::Labels labels = LabelsOf(phase, operation, rejected);
  if (plugin) labels["name"] = *plugin;
  const std::lock_guard lock(mutex_);
  made_.push_back(metrics_.GetHistogram(plugin ? kController : kStep, plugin ? kControllerHelp : kStepHelp,
                                        {0.005, 0.025, 0.1, 0.5, 1.0, 2.5}, labels));
  series[index].store(&made_.back(), std::memory_order_release);
  return made_.back();
}

void ChainMetrics::ObserveStep(Phase phase, Operation operation, bool rejected, Duration elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  Find(step_, nullptr, phase, operation, rejected).Observe(seconds);
  Sum& sum = (*sums_)[IndexOf(phase, operation, rejected)];
  sum.seconds.fetch_add(seconds, std::memory_order_relaxed);
  sum.count.fetch_add(1, std::memory_order_relaxed);
}

void ChainMetrics::ObservePlugin(std::size_t plugin, Phase phase, Operation operation, bool rejected,
                                 Duration elapsed) {
  Find(plugins_[plugin], &names_[plugin], phase, operation, rejected)
      .Observe(std::chrono::duration<double>(elapsed).count());
}

}  // namespace apimesh::admission
