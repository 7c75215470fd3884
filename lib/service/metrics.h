#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace apimesh::service {

using Labels = std::map<std::string, std::string>;

// Handles to one time series each. Cheap to copy, valid as long as the Metrics they come from, thread-safe.
// On a hot path keep the handle: finding it by its labels takes a lock.
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

/// Series whose values are looked up when somebody asks for them.
struct MetricFamily {
  enum class Type { kCounter, kGauge };
  struct Series {
    Labels labels;
    double value = 0;
  };
  std::string name, help;
  Type type = Type::kGauge;
  std::vector<Series> series;
};

/// The metrics of a process. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  /// Finds or makes the series. `help` counts the first time a name is used; `buckets` too.
  Counter GetCounter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge GetGauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram GetHistogram(const std::string& name, const std::string& help, std::vector<double> buckets,
                         const Labels& labels = {});

  /// `collect` is called with every Text(), from any thread.
  void AddSource(std::function<std::vector<MetricFamily>()> collect);

  /// All of them in Prometheus' text format, with those of the process (CPU, memory, files, start time).
  std::string Text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::service
