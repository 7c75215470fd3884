#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace apimesh::service {

using Labels = std::map<std::string, std::string>;

// Each handle refers to one time series. It is cheap to copy, valid as long as its Metrics, and thread-safe. Hot paths
// should keep the handle, because looking it up by labels takes a lock.
class Counter {
 public:
  explicit Counter(prometheus::Counter* counter) : counter_(counter) {}
  void Add(double value = 1);

 private:
  prometheus::Counter* counter_;
};
class Gauge {
 public:
  explicit Gauge(prometheus::Gauge* gauge) : gauge_(gauge) {}
  void Set(double value);
  void Add(double value);

 private:
  prometheus::Gauge* gauge_;
};
class Histogram {
 public:
  explicit Histogram(prometheus::Histogram* histogram) : histogram_(histogram) {}
  void Observe(double value);

 private:
  prometheus::Histogram* histogram_;
};

/// Series whose values are computed when the metrics are collected.
struct MetricFamily {
  enum class Type { kCounter, kGauge, kSummary };
  struct Series {
    Labels labels;
    double value = 0;         // of a summary: the sum of what was observed
    std::uint64_t count = 0;  // of a summary, which has no quantiles
  };
  std::string name, help;
  Type type = Type::kGauge;
  std::vector<Series> series;
};

/// The metrics of a process. Thread-safe.
class Metrics {
 public:
  explicit Metrics(const Clock& clock);
  ~Metrics();

  /// Finds or creates the series. `help` and `buckets` are used only when a name occurs for the first time.
  Counter GetCounter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge GetGauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram GetHistogram(const std::string& name, const std::string& help, std::vector<double> buckets,
                         const Labels& labels = {});

  /// `collect` is called by every Text(), on any thread.
  void AddSource(std::function<std::vector<MetricFamily>()> collect);

  /// All metrics in Prometheus' text format, including those of the process (CPU, memory, files, start time).
  std::string Text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::service
