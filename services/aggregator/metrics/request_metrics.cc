#include "services/aggregator/metrics/request_metrics.h"

namespace apimesh::aggregator {
namespace {

using meta::Verb;

constexpr std::size_t kMaxSeries = 10'000;
const std::vector<double> kDurations{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2,
                                     3,     4,     5,    6,   8,   10,  15,  20,  30,  45,   60};
const std::vector<double> kSizes{1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

/// Returns the value of the label `verb`, in which kube-apiserver uses the names of methods.
std::string_view VerbLabel(const meta::RequestVerb& verb) {
  switch (verb) {
    case Verb::kGet: return "GET";
    case Verb::kList: return "LIST";
    case Verb::kWatch: return "WATCH";
    case Verb::kCreate: return "POST";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return "PATCH";
    case Verb::kDelete: return "DELETE";
    case Verb::kDeleteCollection: return "DELETECOLLECTION";
    case Verb::kProxy: return "CONNECT";
    case Verb::kOther: break;
  }
  static const std::map<std::string_view, std::string_view> methods{
      {"post", "POST"}, {"put", "PUT"}, {"head", "HEAD"}, {"connect", "CONNECT"}, {"options", "OPTIONS"}};
  const auto found = methods.find(verb.Text());
  return found == methods.end() ? "other" : found->second;
}

struct Labels {
  std::string verb, group, version, resource, subresource, scope;
  std::string Key() const {
    return verb + '|' + group + '|' + version + '|' + resource + '|' + subresource + '|' + scope;
  }
  service::Labels Map() const {
    return {{"verb", verb},
            {"group", group},
            {"version", version},
            {"resource", resource},
            {"subresource", subresource},
            {"scope", scope},
            {"component", "apiserver"}};
  }
};

Labels LabelsOf(const meta::RequestInfo& info, bool known) {
  Labels labels{.verb = std::string(VerbLabel(info.verb))};
  if (!info.is_resource_request || !known) return labels;
  labels.group = info.api_group;
  labels.version = info.api_version;
  labels.resource = info.resource;
  labels.subresource = info.subresource;
  labels.scope = !info.name.empty() ? "resource" : !info.ns.empty() ? "namespace" : "cluster";
  return labels;
}

}  // namespace

struct RequestMetrics::State {
  service::Metrics& metrics;
  service::Gauge in_flight[2];

  struct Series {
    service::Histogram duration, size;
    service::Gauge long_running;
    std::map<int, service::Counter> by_code;
  };
  std::mutex mutex;
  std::unordered_map<std::string, Series>
      series;  // guarded by mutex; a lookup here is cheaper than building a label map

  explicit State(service::Metrics& given)
      : metrics(given), in_flight{InFlightGauge("readOnly"), InFlightGauge("mutating")} {}

  service::Gauge InFlightGauge(const char* kind) {
    return metrics.GetGauge("apiserver_current_inflight_requests", "Requests being served now.",
                            {{"request_kind", kind}});
  }
  // The caller must hold `mutex`.
  Series& Find(const Labels& labels) {
    std::string key = labels.Key();
    if (const auto found = series.find(key); found != series.end()) return found->second;
    if (series.size() < kMaxSeries) return series.emplace(std::move(key), Make(labels)).first->second;
    // Beyond the limit, for example with very many custom resources, all further labels share one series.
    if (const auto found = series.find("overflow"); found != series.end()) return found->second;
    return series.emplace("overflow", Make(Labels{.verb = "other"})).first->second;
  }
  Series Make(const Labels& labels) {
    service::Labels map = labels.Map();
    service::Histogram size = metrics.GetHistogram("apiserver_response_sizes", "Bytes of answers.", kSizes, map);
    service::Gauge long_running = metrics.GetGauge("apiserver_longrunning_requests", "Long-running requests now.", map);
    map.emplace("dry_run", "");
    return {metrics.GetHistogram("apiserver_request_duration_seconds", "Time to answer a request.", kDurations, map),
            size,
            long_running,
            {}};
  }
};

RequestMetrics::RequestMetrics(service::Metrics& metrics) : state_(std::make_unique<State>(metrics)) {}
RequestMetrics::~RequestMetrics() = default;

void RequestMetrics::Record(const meta::RequestInfo& info, bool known, int code, std::size_t bytes,
                            std::chrono::duration<double> took) {
  const Labels labels = LabelsOf(info, known);
  const std::lock_guard lock(state_->mutex);
  State::Series& series = state_->Find(labels);
  auto counter = series.by_code.find(code);
  if (counter == series.by_code.end()) {
    service::Labels map = labels.Map();
    map.emplace("dry_run", "");
    map.emplace("code", std::to_string(code));
    const auto made =
        state_->metrics.GetCounter("apiserver_request_total", "Requests by verb, resource, scope and code.", map);
    counter = series.by_code.emplace(code, made).first;
  }
  counter->second.Add();
  if (info.verb == Verb::kWatch) return;
  series.duration.Observe(took.count());
  if (info.verb == Verb::kGet || info.verb == Verb::kList) series.size.Observe(static_cast<double>(bytes));
}

void RequestMetrics::LongRunning(const meta::RequestInfo& info, bool known, int change) {
  const std::lock_guard lock(state_->mutex);
  state_->Find(LabelsOf(info, known)).long_running.Add(change);
}

void RequestMetrics::InFlight(bool mutating, int change) { state_->in_flight[mutating].Add(change); }

}  // namespace apimesh::aggregator
