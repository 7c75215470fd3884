#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/service/metrics.h"
#include "services/aggregator/audit/audit_policy.h"

namespace apimesh::aggregator {

/// The metrics of auditing, and reports of events that could not be recorded. Thread-safe.
class AuditMetrics {
 public:
  AuditMetrics(service::Metrics& metrics, const Clock& clock);

  /// Counts a request by the level that the policy decided.
  void Decided(AuditLevel level);
  /// Counts an event.
  void Generated() { events_.Add(); }
  /// Counts a request that was rejected because its event could not be recorded.
  void Rejected() { rejected_.Add(); }
  /// Counts events that a plugin ("log", "webhook", "buffered", "truncate") could not record, and writes at most one
  /// line per second to the log.
  void Failed(std::string_view plugin, std::string_view error, std::size_t events);

 private:
  service::Metrics& metrics_;
  const Clock& clock_;
  service::Counter events_, rejected_;
  struct Level {
    std::once_flag used;
    std::optional<service::Counter> counter;  // set when the level is used
  };
  Level levels_[4];
  std::mutex mutex_;
  SteadyTime next_line_{};      // guarded by mutex_
  std::size_t unreported_ = 0;  // events since the last line; guarded by mutex_
};

}  // namespace apimesh::aggregator
