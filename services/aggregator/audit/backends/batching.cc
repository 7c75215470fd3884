#include "services/aggregator/audit/backends/batching.h"

#include <cstdlib>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/token_bucket.h"

namespace apimesh::aggregator {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr std::string_view kPlugin = "buffered";

std::size_t BytesOf(const AuditEvents& events) {
  std::size_t bytes = 0;
  for (const AuditEventPtr& event : events) bytes += event->LineBytes();
  return bytes;
}

/// The time between two batches. A rate that would be higher than one per microsecond is no limit.
Duration IntervalOf(const AuditBatchOptions& options) {
  const double qps = std::strtod(options.throttle_qps.c_str(), nullptr);
  if (!options.throttle || qps <= 0) return Duration::zero();
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / qps));
}

class Batching final : public AuditBackend {
 public:
  Batching(const AuditBatchOptions& options, BatchOrder order, AuditBackendPtr delegate,
           std::shared_ptr<AuditMetrics> metrics, const Clock& clock)
      : buffer_size_(static_cast<std::size_t>(options.buffer_size)),
        max_size_(static_cast<std::size_t>(options.max_size)),
        max_wait_(options.max_wait),
        interval_(IntervalOf(options)),
        bucket_(options.throttle_burst, interval_),
        order_(order),
        metrics_(std::move(metrics)),
        clock_(clock),
        delegate_(std::move(delegate)) {
    asio::co_spawn(io_, Run(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Batching() override { End(); }

  Task<bool> Process(AuditEvents events) override {
    std::size_t dropped = 0;
    std::unique_lock lock(mutex_);
    const bool stopped = stopped_;
    for (AuditEventPtr& event : events) {
      const std::size_t bytes = event->LineBytes();
      if (stopped || queue_.size() >= buffer_size_ || bytes_ + bytes > kMaxBufferedAuditBytes) {
        ++dropped;
        continue;
      }
      bytes_ += bytes;
      queue_.push_back(std::move(event));
    }
    if (hurried_ || queue_.size() >= max_size_) WakeLocked();
    lock.unlock();
    if (dropped > 0)
      metrics_->Failed(kPlugin, stopped ? "audit backend shut down" : "audit buffer queue blocked", dropped);
    co_return true;
  }

  void BeginShutdown() override {
    delegate_->BeginShutdown();
    const std::lock_guard lock(mutex_);
    hurried_ = true;
    WakeLocked();
  }

  void Shutdown(SteadyTime deadline) override {
    BeginShutdown();
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopped_, true)) return;
      WakeLocked();
    }
    const bool complete = finished_.get_future().wait_for(deadline - clock_.Steady()) == std::future_status::ready;
    End();
    if (!complete) {
      const std::lock_guard lock(mutex_);
      metrics_->Failed(kPlugin, "the server ended before these events were recorded", queue_.size() + in_flight_);
    }
    delegate_->Shutdown(deadline);
  }

 private:
  void End() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void WakeLocked() {
    if (const auto sleeper = std::exchange(sleeper_, nullptr)) sleeper->Wake();
  }
  /// Sleeps until Wake is called or the deadline passes. The lock must be held; it is released.
  Task<> Sleep(std::unique_lock<std::mutex> lock, SteadyTime deadline) {
    const std::shared_ptr<Wakeup> sleeper = Wakeup::New();
    sleeper_ = sleeper;
    lock.unlock();
    co_await Wakeup::Wait(sleeper, deadline);
  }

  Task<> Run() {
    for (;;) {
      AuditEvents batch = co_await Collect();
      if (batch.empty()) break;
      co_await WaitForRate();
      if (order_ == BatchOrder::kOneByOne) {
        co_await Deliver(std::move(batch));
      } else {
        co_await WaitForRoom();
        asio::co_spawn(io_, Deliver(std::move(batch)), asio::detached);
      }
    }
    for (;;) {
      std::unique_lock lock(mutex_);
      if (batches_ == 0) break;
      co_await Sleep(std::move(lock), SteadyTime::max());
    }
    finished_.set_value();
  }

  /// Waits for a full batch, but not longer than max_wait_. Returns nothing only at the end.
  Task<AuditEvents> Collect() {
    // As in kube-apiserver, batches of one event do not wait for a timer.
    const auto next_timer = [this] { return max_size_ > 1 ? clock_.Steady() + max_wait_ : SteadyTime::max(); };
    SteadyTime until = next_timer();
    for (;;) {
      std::unique_lock lock(mutex_);
      const bool timed_out = clock_.Steady() >= until;
      if (queue_.size() >= max_size_ || ((hurried_ || timed_out) && !queue_.empty())) co_return TakeLocked();
      if (stopped_) co_return AuditEvents();
      if (timed_out) until = next_timer();
      co_await Sleep(std::move(lock), until);
    }
  }
  AuditEvents TakeLocked() {
    const std::size_t count = std::min(queue_.size(), max_size_);
    AuditEvents batch(std::make_move_iterator(queue_.begin()),
                      std::make_move_iterator(queue_.begin() + static_cast<std::ptrdiff_t>(count)));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    in_flight_ += count;
    ++batches_;
    return batch;
  }

  Task<> WaitForRate() {
    if (interval_ <= 1us) co_return;
    const Duration pause = std::clamp<Duration>(interval_ / 4, 1ms, 50ms);
    for (;;) {
      if (bucket_.Take(clock_.Steady())) co_return;
      {
        const std::lock_guard lock(mutex_);
        if (hurried_) co_return;
      }
      co_await SleepFor(pause);
    }
  }

  Task<> WaitForRoom() {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (batches_ <= kMaxConcurrentBatches) co_return;  // this batch is counted already
      co_await Sleep(std::move(lock), SteadyTime::max());
    }
  }

  Task<> Deliver(AuditEvents batch) {
    const std::size_t count = batch.size(), bytes = BytesOf(batch);
    const AuditBackendPtr delegate = delegate_;
    co_await delegate->Process(std::move(batch));
    const std::lock_guard lock(mutex_);
    in_flight_ -= count;
    bytes_ -= bytes;
    --batches_;
    WakeLocked();
  }

  const std::size_t buffer_size_, max_size_;
  const Duration max_wait_;
  const Duration interval_;  // zero: no limit
  TokenBucket bucket_;       // used only by the thread
  const BatchOrder order_;
  const std::shared_ptr<AuditMetrics> metrics_;
  const Clock& clock_;
  std::mutex mutex_;
  std::deque<AuditEventPtr> queue_;  // guarded by mutex_, as are all members up to `stopped_`
  std::size_t bytes_ = 0;            // of all events in the queue and in flight
  std::size_t in_flight_ = 0;        // events
  int batches_ = 0;                  // in flight
  std::shared_ptr<Wakeup> sleeper_;  // of Run()
  bool hurried_ = false;             // nothing waits any more
  bool stopped_ = false;
  std::promise<void> finished_;
  // The connections of the delegate belong to io_, and its coroutines refer to the delegate.
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  AuditBackendPtr delegate_;
  std::thread thread_;
};

}  // namespace

AuditBackendPtr NewBatching(const AuditBatchOptions& options, BatchOrder order, AuditBackendPtr delegate,
                            std::shared_ptr<AuditMetrics> metrics, const Clock& clock) {
  return std::make_shared<Batching>(options, order, std::move(delegate), std::move(metrics), clock);
}

}  // namespace apimesh::aggregator
