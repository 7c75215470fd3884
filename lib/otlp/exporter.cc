#include "lib/otlp/exporter.h"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/otlp/message.h"

namespace apimesh::otlp {
namespace {

constexpr auto kRetryPause = std::chrono::seconds(1);
constexpr auto kLastRetryPause = std::chrono::seconds(8);

}  // namespace

Exporter::Exporter(ExporterOptions options, std::unique_ptr<Transport> transport)
    : options_(std::move(options)), transport_(std::move(transport)) {
  boost::asio::co_spawn(io_, Run(), [this](std::exception_ptr) { finished_.set_value(); });
  thread_ = std::thread([this] { io_.run(); });
}

Exporter::~Exporter() { Stop(Duration::zero()); }

void Exporter::Take(tracing::SpanData span) {
  std::shared_ptr<Wakeup> wake;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= options_.max_queue) {
      ++dropped_;
      return;
    }
    queue_.push_back(std::move(span));
    if (queue_.size() >= options_.max_batch) wake = std::exchange(asleep_, nullptr);
  }
  if (wake) wake->Wake();
}

void Exporter::Stop(Duration limit) {
  std::shared_ptr<Wakeup> wake;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    stop_by_ = options_.clock.Steady() + limit;
    wake = std::exchange(asleep_, nullptr);
  }
  if (wake) wake->Wake();
  finished_.get_future().wait_for(limit);
  io_.stop();
  thread_.join();
  dropped_ += queue_.size();
}

Exporter::Counts Exporter::GetCounts() const { return {exported_, dropped_, failed_}; }

std::vector<tracing::SpanData> Exporter::NextBatch(bool all) {
  const std::lock_guard lock(mutex_);
  std::vector<tracing::SpanData> batch;
  if (!all && queue_.size() < options_.max_batch) return batch;
  const std::size_t count = std::min(queue_.size(), options_.max_batch);
  batch.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

Task<> Exporter::Run() {
  for (bool stopping = false; !stopping;) {
    const auto wakeup = Wakeup::New();
    bool sleeps = false;
    {
      const std::lock_guard lock(mutex_);
      stopping = stopping_;
      sleeps = !stopping && queue_.size() < options_.max_batch;
      if (sleeps) asleep_ = wakeup;
    }
    bool woken = true;
    if (sleeps) woken = co_await Wakeup::WaitFor(wakeup, options_.delay);
    {
      const std::lock_guard lock(mutex_);
      asleep_ = nullptr;
      stopping = stopping_;
    }
    co_await SendBatches(stopping || !woken);
  }
}

Task<> Exporter::SendBatches(bool all) {
  for (;;) {
    std::vector<tracing::SpanData> batch = NextBatch(all);
    if (batch.empty()) co_return;
    const std::size_t count = batch.size();
    const bool sent = co_await SendOne(batch);
    (sent ? exported_ : failed_) += count;
  }
}

Task<bool> Exporter::SendOne(std::vector<tracing::SpanData>& batch) {
  const std::string message = MessageOf(batch, options_.resource);
  const SteadyTime give_up = options_.clock.Steady() + options_.retry_for;
  Duration pause = kRetryPause;
  for (;;) {
    SteadyTime until;
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      stopping = stopping_;
      until = std::min(options_.clock.Steady() + options_.timeout, stop_by_);
    }
    const Transport::Outcome outcome = co_await transport_->Send(message, until);
    if (outcome.error.empty()) co_return true;
    const SteadyTime next = options_.clock.Steady() + pause;
    if (!outcome.again || stopping || next >= give_up) {
      log::Warning("{} spans were not accepted by the collector: {}", batch.size(), outcome.error);
      co_return false;
    }
    const auto wakeup = Wakeup::New();
    {
      const std::lock_guard lock(mutex_);
      if (!stopping_) asleep_ = wakeup;
      if (stopping_) wakeup->Wake();
    }
    co_await Wakeup::WaitFor(wakeup, pause);
    pause = std::min<Duration>(pause * 2, kLastRetryPause);
  }
}

}  // namespace apimesh::otlp
