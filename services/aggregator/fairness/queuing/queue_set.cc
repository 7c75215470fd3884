#include "services/aggregator/fairness/queuing/queue_set.h"

#include <algorithm>
#include <limits>

namespace apimesh::aggregator {
namespace {

// What a request is assumed to take before it has finished.
constexpr auto kAssumedServiceTime = std::chrono::milliseconds(3);

}  // namespace

/// One queue: the requests that wait in it, and those that were dispatched from it and still execute.
struct FairQueue {
  boost::intrusive::list<Ticket> waiting, executing;
  SeatTime next_dispatch = 0;  // the virtual time at which the first waiting request starts
  SeatTime waiting_work = 0;   // of the waiting requests, as all below
  int initial_seats = 0;
  int max_seats = 0;
  int seats_in_use = 0;

  bool Active() const { return !waiting.empty() || !executing.empty(); }
  void Add(Ticket& ticket) {
    waiting.push_back(ticket);
    waiting_work += ticket.TotalWork();
    initial_seats += ticket.work.initial_seats;
    max_seats += ticket.work.MaxSeats();
  }
  void Remove(Ticket& ticket) {
    waiting.erase(waiting.iterator_to(ticket));
    waiting_work -= ticket.TotalWork();
    initial_seats -= ticket.work.initial_seats;
    max_seats -= ticket.work.MaxSeats();
  }
};

Ticket::~Ticket() {
  if (state_ != State::kOutside) set_->Leave(*this);
}

SeatTime Ticket::TotalWork() const { return SeatTimeOf(work.initial_seats, kAssumedServiceTime) + work.FinalWork(); }

QueueSet::QueueSet(const Clock& clock, std::function<void(SteadyTime)> release_at)
    : clock_(clock), release_at_(std::move(release_at)), now_(clock.Steady()), demand_(now_) {}

QueueSet::~QueueSet() = default;

void QueueSet::Configure(const QueueSettings& settings, int seats) {
  const std::lock_guard lock(mutex_);
  Advance();
  settings_ = settings;
  limit_ = seats;
  dealer_.reset();
  if (settings.response == QueueSettings::Response::kQueue) {
    dealer_.emplace(settings.queues, settings.hand_size);
    while (queues_.size() < static_cast<std::size_t>(settings.queues)) queues_.push_back(std::make_unique<FairQueue>());
  }
  Dispatch(nullptr);
}

// Advances the virtual time: the seats in use are divided equally between the active queues.
void QueueSet::Advance() {
  const SteadyTime now = clock_.Steady();
  if (active_queues_ > 0) {
    const double seats = std::min(seats_in_use_ + seats_waiting_, limit_);
    const double added = seats / active_queues_ * std::chrono::duration<double, std::micro>(now - now_).count();
    const double sum = added + meter_remainder_;
    const auto whole = static_cast<SeatTime>(sum);
    meter_ += whole;
    meter_remainder_ = sum - static_cast<double>(whole);
  }
  now_ = now;
  ReleaseDue();
}

bool QueueSet::HasRoomFor(int seats) const {
  if (settings_.response == QueueSettings::Response::kExempt) return true;
  // A request that needs more seats than there are runs alone.
  if (seats > limit_) return executing_count_ == 0;
  return seats_in_use_ + seats <= limit_;
}

// Of the queues that the flow may use, returns the one with the least work. The first candidate changes from request to
// request, because flows whose hands overlap would otherwise prefer the same queue.
FairQueue& QueueSet::ChooseQueue(std::uint64_t hash) {
  int hand[Dealer::kMaxHandSize];
  const int size = dealer_->Deal(hash, hand);
  const auto first = static_cast<int>(entered_++ % static_cast<std::uint64_t>(size));
  FairQueue* best = nullptr;
  for (int i = 0; i < size; ++i) {
    FairQueue* const queue = queues_[static_cast<std::size_t>(hand[(first + i) % size])].get();
    if (best == nullptr || queue->waiting_work < best->waiting_work) best = queue;
  }
  return *best;
}

QueueSet::Outcome QueueSet::Enter(Ticket& ticket, int* queue_length) {
  const std::lock_guard lock(mutex_);
  Advance();
  ticket.set_ = this;
  ticket.arrived_ = now_;
  ticket.arrived_at_ = meter_;
  if (settings_.response != QueueSettings::Response::kQueue) {
    if (!HasRoomFor(ticket.work.MaxSeats())) {
      ++rejected_;
      return Outcome::kReject;
    }
    Begin(ticket);
    DemandChanged();
    return Outcome::kExecute;
  }
  FairQueue& queue = ChooseQueue(ticket.flow_hash);
  if (seats_in_use_ >= limit_ && queue.waiting.size() >= static_cast<std::size_t>(settings_.length_limit)) {
    ++rejected_;
    return Outcome::kReject;
  }
  if (!queue.Active()) {
    queue.next_dispatch = meter_;
    ++active_queues_;
  }
  ticket.state_ = Ticket::State::kWaiting;
  ticket.queue_ = &queue;
  queue.Add(ticket);
  if (queue_length) *queue_length = static_cast<int>(queue.waiting.size());
  ++waiting_;
  seats_waiting_ += ticket.work.MaxSeats();
  Keep(queue);
  Dispatch(waiting_ == 1 ? &queue : nullptr);
  DemandChanged();
  if (ticket.state_ == Ticket::State::kExecuting) return Outcome::kExecute;
  ticket.wakeup_ = Wakeup::New();
  if (!releases_.empty()) release_at_(releases_.front().at);
  return Outcome::kWait;
}

Task<bool> QueueSet::Wait(Ticket& ticket, SteadyTime deadline) {
  const bool woken = co_await Wakeup::Wait(ticket.wakeup_, deadline);
  const std::lock_guard lock(mutex_);
  if (ticket.state_ == Ticket::State::kExecuting) co_return true;
  Advance();
  ++rejected_;
  ++(woken ? cancelled_ : timed_out_);
  Remove(ticket);
  DemandChanged();
  co_return false;
}

void QueueSet::Cancel(const Ticket& ticket) {
  if (ticket.wakeup_) ticket.wakeup_->Wake();
}

void QueueSet::Remove(Ticket& ticket) {
  FairQueue& queue = *ticket.queue_;
  queue.Remove(ticket);
  --waiting_;
  seats_waiting_ -= ticket.work.MaxSeats();
  ticket.state_ = Ticket::State::kOutside;
  if (!queue.Active()) --active_queues_;
  Keep(queue);
  RemoveIfSurplus(&queue);
}

// A queue that has not used its share must not save it up: a request never starts before it arrived, also virtually.
void QueueSet::Keep(FairQueue& queue) const {
  if (!queue.waiting.empty()) queue.next_dispatch = std::max(queue.next_dispatch, queue.waiting.front().arrived_at_);
}

void QueueSet::Begin(Ticket& ticket) {
  ticket.state_ = Ticket::State::kExecuting;
  ticket.started_ = now_;
  (ticket.queue_ ? ticket.queue_->executing : executing_).push_back(ticket);
  if (ticket.queue_) ticket.queue_->seats_in_use += ticket.work.MaxSeats();
  ++executing_count_;
  ++dispatched_;
  seats_in_use_ += ticket.work.MaxSeats();
}

// Dispatches as many requests as there are seats for. `only` is the queue of the only waiting request, if it is known.
void QueueSet::Dispatch(FairQueue* only) {
  while (waiting_ > 0 && seats_in_use_ < limit_) {
    FairQueue* const queue = only ? only : NextQueue();
    only = nullptr;
    Ticket& ticket = queue->waiting.front();
    // If the first request does not fit, the others wait too. Otherwise a request that needs many seats never gets
    // them.
    if (!HasRoomFor(ticket.work.MaxSeats())) return;
    queue->Remove(ticket);
    --waiting_;
    seats_waiting_ -= ticket.work.MaxSeats();
    if (ticket.work.final_seats > limit_ && limit_ > 0) {
      ticket.work.extra_time = std::chrono::microseconds(ticket.work.FinalWork() / limit_);
      ticket.work.final_seats = limit_;
    }
    Begin(ticket);
    queue->next_dispatch += ticket.TotalWork();
    Keep(*queue);
    if (ticket.wakeup_) ticket.wakeup_->Wake();
  }
}

// Returns the queue whose first request has the earliest virtual finish. Of equals, the first after the queue that was
// dispatched last.
FairQueue* QueueSet::NextQueue() {
  SeatTime earliest = std::numeric_limits<SeatTime>::max();
  std::size_t best = 0;
  for (std::size_t i = 1; i <= queues_.size(); ++i) {
    const std::size_t index = (robin_ + i) % queues_.size();
    const FairQueue& queue = *queues_[index];
    if (queue.waiting.empty()) continue;
    const SeatTime finish = queue.next_dispatch + queue.waiting.front().TotalWork();
    if (finish >= earliest) continue;
    earliest = finish;
    best = index;
  }
  robin_ = best;
  return queues_[best].get();
}

void QueueSet::Leave(Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Advance();
  if (ticket.state_ == Ticket::State::kOutside) return;
  if (ticket.state_ == Ticket::State::kWaiting) return Remove(ticket);
  FairQueue* const queue = ticket.queue_;
  auto& executing = queue ? queue->executing : executing_;
  executing.erase(executing.iterator_to(ticket));
  ticket.state_ = Ticket::State::kOutside;
  --executing_count_;
  if (queue) {
    // Replaces the assumed service time by the real one.
    queue->next_dispatch -= SeatTimeOf(ticket.work.initial_seats, kAssumedServiceTime - (now_ - ticket.started_));
    Keep(*queue);
    if (!queue->Active()) --active_queues_;
  }
  if (ticket.work.extra_time > Duration::zero() && !ticket.suspended_) {
    releases_.push_back({now_ + ticket.work.extra_time, ticket.work.MaxSeats(), queue});
    std::push_heap(releases_.begin(), releases_.end(), Release::Later);
    if (waiting_ > 0) release_at_(releases_.front().at);
  } else {
    FreeSeats(ticket.SeatsInUse(), queue);
  }
  Dispatch(nullptr);
  DemandChanged();
}

void QueueSet::Suspend(Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Advance();
  if (ticket.state_ != Ticket::State::kExecuting || ticket.suspended_) return;
  if (ticket.queue_) ticket.queue_->seats_in_use -= ticket.work.MaxSeats();
  seats_in_use_ -= ticket.work.MaxSeats();
  ticket.suspended_ = true;
  Dispatch(nullptr);
  DemandChanged();
}

void QueueSet::Resume(Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  Advance();
  if (ticket.state_ != Ticket::State::kExecuting || !ticket.suspended_) return;
  ticket.suspended_ = false;
  if (ticket.queue_) ticket.queue_->seats_in_use += ticket.work.MaxSeats();
  seats_in_use_ += ticket.work.MaxSeats();
  DemandChanged();
}

void QueueSet::FreeSeats(int seats, FairQueue* queue) {
  seats_in_use_ -= seats;
  if (queue == nullptr) return;
  queue->seats_in_use -= seats;
  RemoveIfSurplus(queue);
}

void QueueSet::RemoveIfSurplus(FairQueue* queue) {
  const int wanted = settings_.response == QueueSettings::Response::kQueue ? settings_.queues : 0;
  if (queues_.size() <= static_cast<std::size_t>(wanted) || queue->Active() || queue->seats_in_use > 0) return;
  const auto position =
      std::find_if(queues_.begin(), queues_.end(), [queue](const auto& one) { return one.get() == queue; });
  // The dealer uses the first queues, so only those after them can go.
  if (position - queues_.begin() < wanted) return;
  queues_.erase(position);
  robin_ = 0;
}

void QueueSet::ReleaseDue() {
  while (!releases_.empty() && releases_.front().at <= now_) {
    const Release due = releases_.front();
    std::pop_heap(releases_.begin(), releases_.end(), Release::Later);
    releases_.pop_back();
    FreeSeats(due.seats, due.queue);
  }
}

void QueueSet::Poll() {
  const std::lock_guard lock(mutex_);
  Advance();
  Dispatch(nullptr);
  DemandChanged();
  if (waiting_ > 0 && !releases_.empty()) release_at_(releases_.front().at);
}

void QueueSet::DemandChanged() { demand_.Set(seats_in_use_ + seats_waiting_, now_); }

bool QueueSet::Idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_ == 0 && executing_count_ == 0;
}

SeatDemand::Period QueueSet::TakeDemand() {
  const std::lock_guard lock(mutex_);
  Advance();
  return demand_.Take(now_);
}

QueueSet::Dump QueueSet::GetDump(bool with_requests) const {
  const std::lock_guard lock(mutex_);
  Dump dump{.waiting = waiting_,
            .executing = executing_count_,
            .dispatched = dispatched_,
            .rejected = rejected_,
            .timed_out = timed_out_,
            .cancelled = cancelled_};
  const auto add = [&dump](const Ticket& ticket, int queue, int position) {
    dump.requests.push_back({queue, position, std::string(ticket.flow_schema), std::string(ticket.flow_distinguisher),
                             std::string(ticket.user), ticket.work, ticket.arrived_, ticket.started_,
                             ticket.info ? *ticket.info : meta::RequestInfo()});
  };
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const FairQueue& queue = *queues_[i];
    dump.queues.push_back({.waiting = static_cast<int>(queue.waiting.size()),
                           .executing = static_cast<int>(queue.executing.size()),
                           .seats_in_use = queue.seats_in_use,
                           .initial_seats = queue.initial_seats,
                           .max_seats = queue.max_seats,
                           .next_dispatch = queue.next_dispatch,
                           .work = queue.waiting_work});
    if (!with_requests) continue;
    int position = 0;
    for (const Ticket& ticket : queue.waiting) add(ticket, static_cast<int>(i), position++);
    for (const Ticket& ticket : queue.executing) add(ticket, static_cast<int>(i), -1);
  }
  if (with_requests) {
    for (const Ticket& ticket : executing_) add(ticket, -1, -1);
  }
  return dump;
}

}  // namespace apimesh::aggregator
