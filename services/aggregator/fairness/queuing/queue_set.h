#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/clock.h"
#include "services/aggregator/fairness/queuing/dealer.h"
#include "services/aggregator/fairness/queuing/seat_demand.h"
#include "services/aggregator/fairness/queuing/work.h"

namespace apimesh::aggregator {

/// The queues of a priority level.
struct QueueSettings {
  enum class Response { kExempt, kReject, kQueue };  // what happens to a request that finds no free seat
  Response response = Response::kReject;
  int queues = 0;  // for kQueue, as all below
  int hand_size = 0;
  int length_limit = 0;
};

class QueueSet;
struct FairQueue;

/// One request that occupies seats of a priority level or waits for them. It must not move while it does.
class Ticket : public boost::intrusive::list_base_hook<> {
 public:
  Ticket() = default;
  /// Leaves the queue set, if the request is still in it.
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  // Set by the caller before Enter().
  WorkEstimate work;
  std::uint64_t flow_hash = 0;
  std::string_view flow_schema;  // as all below: for the dumps; they outlive the ticket
  std::string_view flow_distinguisher;
  std::string_view user;
  const meta::RequestInfo* info = nullptr;

 private:
  friend class QueueSet;
  friend struct FairQueue;
  enum class State { kOutside, kWaiting, kExecuting };
  SeatTime TotalWork() const;
  int SeatsInUse() const { return suspended_ ? 0 : work.MaxSeats(); }

  State state_ = State::kOutside;
  bool suspended_ = false;
  QueueSet* set_ = nullptr;
  FairQueue* queue_ = nullptr;  // nullptr: executes without a queue
  SteadyTime arrived_{}, started_{};
  SeatTime arrived_at_ = 0;  // the meter when it arrived
  std::shared_ptr<Wakeup> wakeup_;
};

/// Fair queuing of the requests of one priority level (README.md explains the algorithm). Thread-safe.
class QueueSet {
 public:
  enum class Outcome { kExecute, kWait, kReject };

  /// What the dumps show.
  struct RequestDump {
    int queue = -1, position = -1;  // -1: without a queue; executing
    std::string flow_schema, flow_distinguisher, user;
    WorkEstimate work;
    SteadyTime arrived{}, started{};
    meta::RequestInfo info;
  };
  struct QueueDump {
    int waiting = 0, executing = 0, seats_in_use = 0, initial_seats = 0, max_seats = 0;
    SeatTime next_dispatch = 0, work = 0;
  };
  struct Dump {
    std::vector<QueueDump> queues;
    std::vector<RequestDump> requests;  // only if asked for
    int waiting = 0, executing = 0;
    std::uint64_t dispatched = 0, rejected = 0, timed_out = 0, cancelled = 0;
  };

  /// `release_at` is called with the time at which Poll() must be called, because requests wait for seats that become
  /// free then. It is called with a lock held and must not call this class.
  QueueSet(const Clock& clock, std::function<void(SteadyTime)> release_at);
  ~QueueSet();

  /// Changes the queues and the number of seats. Requests that wait stay in their queues.
  void Configure(const QueueSettings& settings, int seats);

  /// Decides about a new request. `queue_length`, if not nullptr, receives the number of requests in its queue.
  Outcome Enter(Ticket& ticket, int* queue_length = nullptr);
  /// After kWait: waits until the request may run. Returns false if `deadline` passed or Cancel() was called; the
  /// request has left the queue then.
  Task<bool> Wait(Ticket& ticket, SteadyTime deadline);
  /// Ends a Wait().
  static void Cancel(const Ticket& ticket);
  /// The request has been served. Its seats become free, some of them after its extra time.
  void Leave(Ticket& ticket);
  /// Frees the seats of an executing request while it waits for its client, and occupies them again, even if that is
  /// more than the limit.
  void Suspend(Ticket& ticket);
  void Resume(Ticket& ticket);

  /// Frees the seats whose extra time has passed.
  void Poll();
  /// No request waits or executes.
  bool Idle() const;
  SeatDemand::Period TakeDemand();
  Dump GetDump(bool with_requests) const;

 private:
  struct Release {
    SteadyTime at;
    int seats;
    FairQueue* queue;
    static bool Later(const Release& a, const Release& b) { return a.at > b.at; }
  };
  // All of these require mutex_.
  void Advance();
  bool HasRoomFor(int seats) const;
  FairQueue& ChooseQueue(std::uint64_t hash);
  void Begin(Ticket& ticket);
  void Dispatch(FairQueue* only);
  FairQueue* NextQueue();
  void Remove(Ticket& ticket);
  void FreeSeats(int seats, FairQueue* queue);
  void RemoveIfSurplus(FairQueue* queue);
  void Keep(FairQueue& queue) const;
  void DemandChanged();
  void ReleaseDue();

  const Clock& clock_;
  const std::function<void(SteadyTime)> release_at_;
  mutable std::mutex mutex_;
  // Everything below is guarded by mutex_.
  QueueSettings settings_;
  int limit_ = 0;
  std::optional<Dealer> dealer_;
  std::vector<std::unique_ptr<FairQueue>> queues_;  // may be more than settings_.queues while the surplus drains
  boost::intrusive::list<Ticket> executing_;        // those without a queue
  std::vector<Release> releases_;                   // a heap; the earliest is the first
  SeatTime meter_ = 0;
  double meter_remainder_ = 0;
  SteadyTime now_;         // when meter_ was advanced
  std::size_t robin_ = 0;  // the queue that was dispatched last
  std::uint64_t entered_ = 0;
  int active_queues_ = 0;  // with requests that wait or execute
  int waiting_ = 0, executing_count_ = 0;
  int seats_in_use_ = 0, seats_waiting_ = 0;
  SeatDemand demand_;
  std::uint64_t dispatched_ = 0, rejected_ = 0, timed_out_ = 0, cancelled_ = 0;
};

}  // namespace apimesh::aggregator
