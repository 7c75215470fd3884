#include "lib/service/metrics.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

namespace apimesh::service {
namespace {

double CpuSeconds() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double ResidentBytes() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double OpenFiles() {
  std::error_code ignored;
  const std::filesystem::directory_iterator files("/proc/self/fd", ignored);
  return static_cast<double>(std::distance(files, std::filesystem::directory_iterator()));
}

}  // namespace

void Counter::Add(double value) { counter_->Increment(value); }
void Gauge::Set(double value) { gauge_->Set(value); }
void Gauge::Add(double value) { gauge_->Increment(value); }
void Histogram::Observe(double value) { histogram_->Observe(value); }

namespace {

prometheus::MetricType TypeOf(MetricFamily::Type type) {
  switch (type) {
    case MetricFamily::Type::kCounter: return prometheus::MetricType::Counter;
    case MetricFamily::Type::kGauge: return prometheus::MetricType::Gauge;
    case MetricFamily::Type::kSummary: return prometheus::MetricType::Summary;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::MetricFamily ToPrometheus(MetricFamily family) {
  prometheus::MetricFamily made{std::move(family.name), std::move(family.help), TypeOf(family.type), {}};
  for (const MetricFamily::Series& series : family.series) {
    prometheus::ClientMetric& metric = made.metric.emplace_back();
    for (const auto& [name, value] : series.labels) metric.label.push_back({name, value});
    switch (family.type) {
      case MetricFamily::Type::kCounter: metric.counter.value = series.value; break;
      case MetricFamily::Type::kGauge: metric.gauge.value = series.value; break;
      case MetricFamily::Type::kSummary:
        metric.summary.sample_sum = series.value;
        metric.summary.sample_count = series.count;
        break;
    }
  }
  return made;
}

}  // namespace

struct Metrics::Impl {
  explicit Impl(const Clock& clock) : start(std::chrono::duration<double>(clock.Now().time_since_epoch()).count()) {}

  // Families with the same name and labels are merged.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  const double start;
  std::mutex mutex;
  double cpu_shown = 0;                                             // guarded by mutex
  std::vector<std::function<std::vector<MetricFamily>()>> sources;  // guarded by mutex

  std::vector<prometheus::MetricFamily> CollectSources() {
    std::unique_lock lock(mutex);
    const auto copy = sources;
    lock.unlock();
    std::vector<prometheus::MetricFamily> all;
    for (const auto& collect : copy) {
      for (MetricFamily& family : collect()) all.push_back(ToPrometheus(std::move(family)));
    }
    return all;
  }
};

Metrics::Metrics(const Clock& clock) : impl_(std::make_unique<Impl>(clock)) {}
Metrics::~Metrics() = default;

Counter Metrics::GetCounter(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return Counter(&family.Add(labels));
}

Gauge Metrics::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return Gauge(&family.Add(labels));
}

Histogram Metrics::GetHistogram(const std::string& name, const std::string& help, std::vector<double> buckets,
                                const Labels& labels) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  return Histogram(&family.Add(labels, std::move(buckets)));
}

void Metrics::AddSource(std::function<std::vector<MetricFamily>()> collect) {
  const std::lock_guard lock(impl_->mutex);
  impl_->sources.push_back(std::move(collect));
}

std::string Metrics::Text() const {
  auto gauge = [this](const char* name, const char* help, double value) {
    prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry).Add({}).Set(value);
  };
  gauge("process_resident_memory_bytes", "Resident memory size in bytes.", ResidentBytes());
  gauge("process_open_fds", "Number of open file descriptors.", OpenFiles());
  gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", impl_->start);
  {
    std::lock_guard lock(impl_->mutex);
    const double now = CpuSeconds();
    auto& family = prometheus::BuildCounter()
                       .Name("process_cpu_seconds_total")
                       .Help("Total user and system CPU time spent in seconds.")
                       .Register(impl_->registry);
    family.Add({}).Increment(now - impl_->cpu_shown);
    impl_->cpu_shown = now;
  }
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (prometheus::MetricFamily& family : impl_->CollectSources()) {
    // Several sources may have series of one family, whose name must occur once in the text.
    const auto known =
        std::find_if(families.begin(), families.end(), [&](const auto& one) { return one.name == family.name; });
    if (known == families.end()) {
      families.push_back(std::move(family));
    } else {
      known->metric.insert(known->metric.end(), family.metric.begin(), family.metric.end());
    }
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace apimesh::service
