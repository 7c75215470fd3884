#pragma once

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lib/otlp/transport.h"
#include "lib/tracing/tracer.h"

namespace apimesh {
class Wakeup;
}

namespace apimesh::otlp {

struct ExporterOptions {
  const Clock& clock;
  std::vector<std::pair<std::string, std::string>> resource;  // attributes of this process
  // The values of kube-apiserver.
  std::size_t max_queue = 2048;
  std::size_t max_batch = 512;
  Duration delay = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(10);  // of one message
  Duration retry_for = std::chrono::minutes(1);
};

/// Collects ended spans and sends them in batches from its own thread. It never blocks the threads that end spans:
/// a span that finds the queue full is dropped and counted. Thread-safe.
class Exporter final : public tracing::Sink {
 public:
  Exporter(ExporterOptions options, std::unique_ptr<Transport> transport);
  ~Exporter() override;

  void Take(tracing::SpanData span) override;
  /// Sends what is in the queue, within `limit`. Later spans are dropped.
  void Stop(Duration limit);

  struct Counts {
    std::uint64_t exported = 0;
    std::uint64_t dropped = 0;  // the queue was full
    std::uint64_t failed = 0;   // the collector did not accept them
  };
  Counts GetCounts() const;

 private:
  Task<> Run();
  /// Sends all batches that are complete, or everything if `all`.
  Task<> SendBatches(bool all);
  Task<bool> SendOne(std::vector<tracing::SpanData>& batch);
  std::vector<tracing::SpanData> NextBatch(bool all);

  const ExporterOptions options_;
  const std::unique_ptr<Transport> transport_;
  std::atomic<std::uint64_t> exported_ = 0, dropped_ = 0, failed_ = 0;
  std::mutex mutex_;
  std::deque<tracing::SpanData> queue_;  // guarded by mutex_, as all below
  std::shared_ptr<Wakeup> asleep_;       // set while the loop sleeps
  bool stopping_ = false;
  SteadyTime stop_by_ = SteadyTime::max();
  std::promise<void> finished_;
  boost::asio::io_context io_{1};
  std::thread thread_;
};

}  // namespace apimesh::otlp
