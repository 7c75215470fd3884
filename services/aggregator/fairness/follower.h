#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/objects/objects.h"
#include "lib/base/async/latest.h"
#include "services/aggregator/fairness/controller.h"
#include "services/aggregator/fairness/dangling.h"

namespace apimesh::aggregator {

/// Keeps the configuration of a FairnessController equal to the objects of the cluster, and runs its timers.
class FairnessFollower : public std::enable_shared_from_this<FairnessFollower> {
 public:
  struct Parts {
    const Clock& clock;
    admission::ObjectsPtr objects;
    std::shared_ptr<mesh::DelegateClient> core_api;
    boost::asio::any_io_executor executor;
  };
  explicit FairnessFollower(Parts parts);

  void Start(std::shared_ptr<FairnessController> controller);
  /// Ends the timers and the subscriptions.
  void Stop();
  /// Calls FairnessController::Poll() at `time`. May be called from any thread, with any lock held.
  void PollAt(SteadyTime time);
  /// Whether the objects have been read once.
  bool Synced() const { return synced_; }
  /// Whether the timers run, which release requests that wait and divide the seats.
  bool RunsTimers() const { return runs_timers_; }

 private:
  struct Changed {};  // something has changed
  void Apply(bool schema, const admission::Change& change);
  static Task<> FollowObjects(std::shared_ptr<FairnessFollower> self);
  static Task<> RunTimers(std::shared_ptr<FairnessFollower> self);
  FairnessObjects Current() const;

  const Parts parts_;
  DanglingConditions dangling_;
  std::shared_ptr<FairnessController> controller_;
  std::unique_ptr<admission::Subscription> schemas_, levels_;
  const std::shared_ptr<Latest<Changed>> changes_ = std::make_shared<Latest<Changed>>();
  std::atomic<bool> synced_ = false;
  std::atomic<bool> runs_timers_ = false;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;
  FairnessObjects current_;        // guarded by mutex_, as all below
  std::shared_ptr<Wakeup> timer_;  // set while RunTimers() sleeps
  SteadyTime poll_at_ = SteadyTime::max();
};

}  // namespace apimesh::aggregator
