#include "services/aggregator/metrics/request_metrics.h"

#include <malloc.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <fstream>

namespace apimesh::aggregator {
namespace {

constexpr std::size_t kMaxSeries = 10'000;
const prometheus::Histogram::BucketBoundaries kDurations{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2,
                                                         3,     4,     5,    6,   8,   10,  15,  20,  30,  45,   60};
const prometheus::Histogram::BucketBoundaries kSizes{1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

std::string VerbLabel(const meta::RequestInfo& info) {
  static const std::map<std::string, std::string, std::less<>> labels{
      {"get", "GET"},     {"list", "LIST"},     {"watch", "WATCH"},   {"create", "POST"}, {"update", "PUT"},       {"patch", "PATCH"},
      {"delete", "DELETE"}, {"deletecollection", "DELETECOLLECTION"}, {"post", "POST"},   {"put", "PUT"},          {"head", "HEAD"},
      {"connect", "CONNECT"}, {"options", "OPTIONS"}, {"proxy", "CONNECT"}};
  const auto found = labels.find(info.verb);
  return found == labels.end() ? "other" : found->second;
}

struct Labels {
  std::string verb, group, version, resource, subresource, scope;
  std::string Key() const { return verb + '|' + group + '|' + version + '|' + resource + '|' + subresource + '|' + scope; }
  prometheus::Labels Map() const {
    return {{"verb", verb},       {"group", group}, {"version", version},      {"resource", resource},
            {"subresource", subresource}, {"scope", scope}, {"component", "apiserver"}};
  }
};

Labels LabelsOf(const meta::RequestInfo& info, bool known) {
  Labels labels{.verb = VerbLabel(info)};
  if (!info.is_resource_request || !known) return labels;
  labels.group = info.api_group;
  labels.version = info.api_version;
  labels.resource = info.resource;
  labels.subresource = info.subresource;
  labels.scope = !info.name.empty() ? "resource" : !info.ns.empty() ? "namespace" : "cluster";
  return labels;
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

struct RequestMetrics::State {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& total;
  prometheus::Family<prometheus::Histogram>& durations;
  prometheus::Family<prometheus::Histogram>& sizes;
  prometheus::Family<prometheus::Gauge>& long_running;
  prometheus::Family<prometheus::Gauge>& in_flight;
  prometheus::Gauge& resident;
  prometheus::Gauge* in_flight_now[2];

  struct Series {
    prometheus::Histogram* duration = nullptr;
    prometheus::Histogram* size = nullptr;
    std::map<int, prometheus::Counter*> by_code;
    prometheus::Gauge* long_running = nullptr;
  };
  std::mutex mutex;
  std::unordered_map<std::string, Series> series;  // guarded by mutex; finding one here is cheaper than making a label map

  State()
      : total(prometheus::BuildCounter().Name("apiserver_request_total").Help("Requests by verb, resource, scope and code.").Register(registry)),
        durations(prometheus::BuildHistogram().Name("apiserver_request_duration_seconds").Help("Time to answer a request.").Register(registry)),
        sizes(prometheus::BuildHistogram().Name("apiserver_response_sizes").Help("Bytes of answers.").Register(registry)),
        long_running(prometheus::BuildGauge().Name("apiserver_longrunning_requests").Help("Long-running requests now.").Register(registry)),
        in_flight(prometheus::BuildGauge().Name("apiserver_current_inflight_requests").Help("Requests being served now.").Register(registry)),
        resident(prometheus::BuildGauge().Name("process_resident_memory_bytes").Help("Resident memory.").Register(registry).Add({})),
        in_flight_now{&in_flight.Add({{"request_kind", "readOnly"}}), &in_flight.Add({{"request_kind", "mutating"}})} {}

  // `mutex` is held.
  Series& Find(const Labels& labels) {
    std::string key = labels.Key();
    if (const auto found = series.find(key); found != series.end()) return found->second;
    if (series.size() >= kMaxSeries) {  // e.g. very many custom resources: all further ones share one series
      key = "overflow";
      if (const auto found = series.find(key); found != series.end()) return found->second;
      return series.emplace(std::move(key), Make(Labels{.verb = "other"})).first->second;
    }
    return series.emplace(std::move(key), Make(labels)).first->second;
  }
  Series Make(const Labels& labels) {
    Series made;
    auto map = labels.Map();
    made.size = &sizes.Add(map, kSizes);
    made.long_running = &long_running.Add(map);
    map.emplace("dry_run", "");
    made.duration = &durations.Add(map, kDurations);
    return made;
  }
};

RequestMetrics::RequestMetrics() : state_(std::make_unique<State>()) {}
RequestMetrics::~RequestMetrics() = default;

void RequestMetrics::Record(const meta::RequestInfo& info, bool known, int code, std::size_t bytes, std::chrono::duration<double> took) {
  const Labels labels = LabelsOf(info, known);
  const std::lock_guard lock(state_->mutex);
  State::Series& series = state_->Find(labels);
  prometheus::Counter*& counter = series.by_code[code >= 100 && code < 600 ? code : 0];
  if (counter == nullptr) {
    auto map = labels.Map();
    map.emplace("dry_run", "");
    map.emplace("code", std::to_string(code));
    counter = &state_->total.Add(map);
  }
  counter->Increment();
  if (labels.verb == "WATCH") return;
  series.duration->Observe(took.count());
  if (labels.verb == "GET" || labels.verb == "LIST") series.size->Observe(static_cast<double>(bytes));
}

void RequestMetrics::LongRunning(const meta::RequestInfo& info, bool known, int change) {
  const std::lock_guard lock(state_->mutex);
  state_->Find(LabelsOf(info, known)).long_running->Increment(change);
}

void RequestMetrics::InFlight(bool mutating, int change) { state_->in_flight_now[mutating]->Increment(change); }

std::string RequestMetrics::Render() const {
  state_->resident.Set(ResidentBytes());
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace apimesh::aggregator
