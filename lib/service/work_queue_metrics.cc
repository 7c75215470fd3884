#include "lib/service/work_queue_metrics.h"

#include <algorithm>

namespace apimesh::service {
namespace {

// 10 ns, multiplied by ten up to 10 s. The products are rounded as in kube-apiserver, because the text of a bound is
// the value of a label.
std::vector<double> Durations() {
  std::vector<double> bounds;
  for (double bound = 10e-9; bounds.size() < 10; bound *= 10) bounds.push_back(bound);
  return bounds;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(const std::string& queue, Metrics& metrics, const Clock& clock)
    : clock_(clock),
      adds_(metrics.GetCounter("workqueue_adds_total", "Additions to a controller's queue.", {{"name", queue}})),
      retries_(metrics.GetCounter("workqueue_retries_total", "Work that a controller repeats.", {{"name", queue}})),
      depth_(metrics.GetGauge("workqueue_depth", "Names that wait in a controller's queue.", {{"name", queue}})),
      queued_(metrics.GetHistogram("workqueue_queue_duration_seconds", "Time in a controller's queue.", Durations(),
                                   {{"name", queue}})),
      worked_(metrics.GetHistogram("workqueue_work_duration_seconds", "Time of the work on a name from the queue.",
                                   Durations(), {{"name", queue}})) {
  metrics.AddSource([state = state_, queue, &clock] {
    double unfinished = 0, longest = 0;
    {
      const std::lock_guard lock(state->mutex);
      for (const auto& [name, since] : state->working) {
        const double seconds = Seconds(clock.Steady() - since);
        unfinished += seconds;
        longest = std::max(longest, seconds);
      }
    }
    const auto family = [&queue](const char* name, const char* help, double value) {
      return MetricFamily{.name = name, .help = help, .series = {{.labels = {{"name", queue}}, .value = value}}};
    };
    return std::vector{
        family("workqueue_unfinished_work_seconds", "Time of all work that is not finished.", unfinished),
        family("workqueue_longest_running_processor_seconds", "Time of the longest work that is not finished.",
               longest)};
  });
}

void WorkQueueMetrics::Add(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->waiting.emplace(name, clock_.Steady()).second) return;
  adds_.Add();
  depth_.Set(static_cast<double>(state_->waiting.size()));
}

void WorkQueueMetrics::Begin(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  const SteadyTime now = clock_.Steady();
  const auto waited = state_->waiting.extract(name);
  if (waited) queued_.Observe(Seconds(now - waited.mapped()));
  depth_.Set(static_cast<double>(state_->waiting.size()));
  state_->working[name] = now;
}

void WorkQueueMetrics::Finish(const std::string& name, bool retry) {
  {
    const std::lock_guard lock(state_->mutex);
    const auto work = state_->working.extract(name);
    if (work) worked_.Observe(Seconds(clock_.Steady() - work.mapped()));
  }
  if (!retry) return;
  retries_.Add();
  Add(name);
}

}  // namespace apimesh::service
