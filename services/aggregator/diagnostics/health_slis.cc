#include "services/aggregator/diagnostics/health_slis.h"

#include <fmt/format.h>

namespace apimesh::aggregator {

void HealthSlis::Observe(std::string_view type, std::string_view check, bool passed) {
  const std::lock_guard lock(mutex_);
  Counts& counts = checks_[{std::string(check), std::string(type)}];
  counts.passed = passed;
  ++(passed ? counts.success : counts.error);
}

void HealthSlis::Reset() {
  const std::lock_guard lock(mutex_);
  checks_.clear();
}

std::string HealthSlis::Text() const {
  std::string last, total;
  std::unique_lock lock(mutex_);
  for (const auto& [key, counts] : checks_) {
    const std::string name = fmt::format("name=\"{}\"", key.first), type = fmt::format("type=\"{}\"", key.second);
    last += fmt::format("kubernetes_healthcheck{{{},{}}} {}\n", name, type, counts.passed ? 1 : 0);
    for (const auto& [status, count] : {std::pair("error", counts.error), std::pair("success", counts.success)}) {
      if (count == 0) continue;
      total += fmt::format("kubernetes_healthchecks_total{{{},status=\"{}\",{}}} {}\n", name, status, type, count);
    }
  }
  lock.unlock();
  std::string text;
  if (!last.empty()) {
    text =
        "# HELP kubernetes_healthcheck Whether the health check passed the last time.\n"
        "# TYPE kubernetes_healthcheck gauge\n" +
        last +
        "# HELP kubernetes_healthchecks_total Results of the health check.\n"
        "# TYPE kubernetes_healthchecks_total counter\n" +
        total;
  }
  return text + fmt::format(
                    "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
                    "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {}\n",
                    std::chrono::duration<double>(start_.time_since_epoch()).count());
}

}  // namespace apimesh::aggregator
