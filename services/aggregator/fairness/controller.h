#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/service/metrics.h"
#include "services/aggregator/fairness/configuration.h"
#include "services/aggregator/fairness/flow_metrics.h"
#include "services/aggregator/fairness/flow_schema.h"
#include "services/aggregator/fairness/retry_after.h"

namespace apimesh::aggregator {

/// A priority level and its queues. It exists as long as requests use it, even if its object has been deleted.
struct PriorityLevel {
  PriorityLevel(std::string level_name, const Clock& clock, std::function<void(SteadyTime)> release_at)
      : name(std::move(level_name)), queues(clock, std::move(release_at)) {}

  const std::string name;
  QueueSet queues;
  RetryAfter retry_after;
  // The controller writes these with its lock held.
  LevelSettings settings;
  SmoothedDemand demand;
  std::atomic<bool> quiescing = false;  // its object has been deleted
  int nominal_seats = 0, min_seats = 0, max_seats = 0, current_seats = -1;
};
using PriorityLevelPtr = std::shared_ptr<PriorityLevel>;

/// One FlowSchema with its priority level.
struct Flow {
  FlowSchemaPtr schema;
  PriorityLevelPtr level;
  std::shared_ptr<FlowMetrics> metrics;
  std::string schema_uid, level_uid;
  QueueSettings::Response response = QueueSettings::Response::kReject;
  int max_seats = 0;  // of one request; 0: no limit
};
using FlowPtr = std::shared_ptr<const Flow>;

/// The current configuration of priority and fairness. Thread-safe.
class FairnessController {
 public:
  /// `seats`: of the server. `release_at`: see QueueSet.
  FairnessController(int seats, const Clock& clock, service::Metrics& metrics,
                     std::function<void(SteadyTime)> release_at);

  /// Replaces the configuration. Requests that wait or execute are not affected.
  void Configure(FairnessObjects objects);
  /// Returns the flow schema that a request belongs to. Never nullptr.
  FlowPtr Classify(const meta::RequestInfo& info, const meta::UserInfo& user) const;

  /// Divides the seats between the levels, by their demand since the last call. Called every kBorrowingPeriod.
  void Borrow();
  static constexpr auto kBorrowingPeriod = std::chrono::seconds(10);
  /// Calls QueueSet::Poll() of all levels.
  void Poll();

  /// Levels in the order of their names, for the dumps.
  std::vector<PriorityLevelPtr> Levels() const;

 private:
  using Flows = std::vector<FlowPtr>;
  void SetLimits();    // requires mutex_
  void DivideSeats();  // requires mutex_
  void SetSeats(PriorityLevel& level, int seats, double target);

  const int seats_;
  const Clock& clock_;
  service::Metrics& metrics_;
  const std::function<void(SteadyTime)> release_at_;
  mutable std::mutex mutex_;
  std::map<std::string, PriorityLevelPtr, std::less<>> levels_;  // guarded by mutex_
  mutable std::mutex flows_mutex_;
  std::shared_ptr<const Flows> flows_;  // guarded by flows_mutex_; in the order of their precedence
};

}  // namespace apimesh::aggregator
