#include "services/aggregator/metrics/request_metrics.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "lib/meta/selectors/query.h"

namespace apimesh::aggregator {
namespace {

using meta::Verb;

constexpr std::size_t kMaxSeries = 10'000;
const std::vector<double> kDurations{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2,
                                     3,     4,     5,    6,   8,   10,  15,  20,  30,  45,   60};
const std::vector<double> kIndicatorDurations(kDurations.begin() + 2, kDurations.end());
const std::vector<double> kInitialDurations{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60};
const std::vector<double> kSizes{1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

const std::vector<double> kEventSizes{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10};

// 50 kB, and then every 100 kB up to the limit of a body.
std::vector<double> BodySizes() {
  std::vector<double> bounds;
  for (int i = 0; i < 31; ++i) bounds.push_back(50'000 + 100'000.0 * i);
  return bounds;
}

std::string_view CollectionScope(const meta::RequestInfo& info) { return info.ns.empty() ? "cluster" : "namespace"; }

/// Returns the value of the label `verb`: the method, except for what kube-apiserver distinguishes further.
std::string_view VerbLabel(const meta::RequestInfo& info, bool known, std::string_view method, std::string_view scope,
                           std::string_view content_type) {
  constexpr std::array kTunnels{"log", "exec", "portforward", "attach", "proxy"};
  if (known && std::find(kTunnels.begin(), kTunnels.end(), info.subresource) != kTunnels.end()) return "CONNECT";
  if (info.verb == Verb::kWatch) return "WATCH";
  if (method == "GET" || method == "HEAD") return known && scope != "resource" ? "LIST" : "GET";
  if (method == "PATCH") return content_type == "application/apply-patch+yaml" ? "APPLY" : "PATCH";
  for (const std::string_view other : {"POST", "PUT", "DELETE", "CONNECT"}) {
    if (method == other) return other;
  }
  return "other";
}

std::string_view DryRunLabel(std::string_view query) {
  if (query.find("dryRun") == query.npos) return "";
  const meta::QueryParameters parameters(query);
  const std::vector<std::string> values = parameters.All("dryRun");
  if (values.empty()) return "";
  return std::all_of(values.begin(), values.end(), [](const auto& value) { return value == "All"; }) ? "All"
                                                                                                     : "invalid";
}

struct HashOfLabels {
  using is_transparent = void;
  std::size_t operator()(const RequestLabels& labels) const {
    std::size_t hash = 0;
    for (const std::string_view text : {labels.verb, labels.dry_run, labels.group, labels.version, labels.resource,
                                        labels.subresource, labels.scope, labels.component})
      hash = hash * 31 + std::hash<std::string_view>()(text);
    return hash;
  }
};

const char* BodyVerb(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "create";
    case Verb::kUpdate: return "update";
    case Verb::kPatch: return "patch";
    case Verb::kDelete: return "delete";
    case Verb::kDeleteCollection: return "delete_collection";
    default: return nullptr;
  }
}

class SeriesOfLabels final : public RequestMetrics::Series {
 public:
  /// The caller must keep the texts of `labels` as long as this object.
  SeriesOfLabels(service::Metrics& metrics, const RequestLabels& labels) : metrics_(metrics), labels_(labels) {}

  void Record(int code, Seconds took, Seconds waited) override {
    const std::lock_guard lock(mutex_);
    auto counter =
        std::find_if(by_code_.begin(), by_code_.end(), [code](const auto& one) { return one.first == code; });
    if (counter == by_code_.end()) {
      service::Labels map = Map();
      map.emplace("dry_run", labels_.dry_run);
      if (!duration_) {
        duration_ =
            metrics_.GetHistogram("apiserver_request_duration_seconds", "Time to answer a request.", kDurations, map);
      }
      map.emplace("code", std::to_string(code));
      counter = by_code_.emplace(
          by_code_.end(), code,
          metrics_.GetCounter("apiserver_request_total", "Requests by verb, resource, scope and code.", map));
    }
    counter->second.Add();
    duration_->Observe(took.count());
    if (!HasIndicator()) return;
    if (!indicator_)
      indicator_ = metrics_.GetHistogram("apiserver_request_sli_duration_seconds",
                                         "Time to answer a request, without the time in which it waited in queues.",
                                         kIndicatorDurations, Map());
    indicator_->Observe(std::max(0.0, (took - waited).count()));
  }

  void ResponseSize(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (!size_) size_ = metrics_.GetHistogram("apiserver_response_sizes", "Bytes of answers.", kSizes, Map());
    size_->Observe(static_cast<double>(bytes));
  }

  void BodySize(Verb verb, std::size_t bytes) override {
    const char* const label = BodyVerb(verb);
    if (label == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (!body_)
      body_ = metrics_.GetHistogram(
          "apiserver_request_body_size_bytes", "Bytes of the bodies of requests.", BodySizes(),
          {{"group", std::string(labels_.group)}, {"resource", std::string(labels_.resource)}, {"verb", label}});
    body_->Observe(static_cast<double>(bytes));
  }

  void LongRunning(int change) override {
    const std::lock_guard lock(mutex_);
    if (!long_running_)
      long_running_ = metrics_.GetGauge("apiserver_longrunning_requests", "Long-running requests now.", Map());
    long_running_->Add(change);
  }

  void Terminated(int code) override {
    service::Labels map = Map();
    map.emplace("code", std::to_string(code));
    metrics_
        .GetCounter("apiserver_request_terminations_total", "Requests that the server ended to protect itself.", map)
        .Add();
  }

  void Deprecated(const std::string& removed_release) override {
    const std::lock_guard lock(mutex_);
    if (deprecated_) return;
    deprecated_ = metrics_.GetGauge("apiserver_requested_deprecated_apis", "Deprecated APIs that were requested.",
                                    {{"group", std::string(labels_.group)},
                                     {"version", std::string(labels_.version)},
                                     {"resource", std::string(labels_.resource)},
                                     {"subresource", std::string(labels_.subresource)},
                                     {"removed_release", removed_release}});
    deprecated_->Set(1);
  }

  void WatchListDone(Seconds took) override {
    const std::lock_guard lock(mutex_);
    if (!initial_) {
      service::Labels map = ResourceMap();
      map.emplace("scope", labels_.scope);
      initial_ = metrics_.GetHistogram("apiserver_watch_list_duration_seconds",
                                       "Time in which a watch sent the initial events.", kInitialDurations, map);
    }
    initial_->Observe(took.count());
  }

  WatchEventMetrics& Events() override {
    const std::lock_guard lock(mutex_);
    if (!events_) {
      events_.emplace(metrics_.GetCounter("apiserver_watch_events_total", "Events sent to watchers.", ResourceMap()),
                      metrics_.GetHistogram("apiserver_watch_events_sizes", "Bytes of the events sent to watchers.",
                                            kEventSizes, ResourceMap()));
    }
    return *events_;
  }

 private:
  /// Long-running requests, dry runs and health checks are not part of the service level.
  bool HasIndicator() const {
    return labels_.verb != "WATCH" && labels_.verb != "CONNECT" && labels_.dry_run.empty() &&
           !labels_.component.empty();
  }
  service::Labels ResourceMap() const {
    return {{"group", std::string(labels_.group)},
            {"version", std::string(labels_.version)},
            {"resource", std::string(labels_.resource)}};
  }
  service::Labels Map() const {
    service::Labels map = ResourceMap();
    map.emplace("verb", labels_.verb);
    map.emplace("subresource", labels_.subresource);
    map.emplace("scope", labels_.scope);
    map.emplace("component", labels_.component);
    return map;
  }

  service::Metrics& metrics_;
  const RequestLabels labels_;
  std::mutex mutex_;  // guards all below
  std::vector<std::pair<int, service::Counter>> by_code_;
  std::optional<service::Histogram> duration_, indicator_, size_, body_, initial_;
  std::optional<service::Gauge> long_running_, deprecated_;
  std::optional<WatchEventMetrics> events_;
};

/// Labels with their own texts.
struct OwnedLabels {
  explicit OwnedLabels(const RequestLabels& given)
      : text{std::string(given.verb),    std::string(given.dry_run),  std::string(given.group),
             std::string(given.version), std::string(given.resource), std::string(given.subresource),
             std::string(given.scope),   std::string(given.component)} {}
  RequestLabels View() const { return {text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7]}; }
  const std::array<std::string, 8> text;
};

}  // namespace

RequestLabels LabelsOf(const meta::RequestInfo& info, bool known, std::string_view method, std::string_view query,
                       std::string_view content_type) {
  RequestLabels labels;
  known = known && info.is_resource_request;
  if (known) {
    labels.group = info.api_group;
    labels.version = info.api_version;
    labels.resource = info.resource;
    labels.subresource = info.subresource;
    // A list of one object, selected by its name, has the scope of a list.
    labels.scope = info.verb == Verb::kCreate || info.parts.size() > 1 ? "resource" : CollectionScope(info);
  } else if (!info.is_resource_request &&
             (info.path == "/livez" || info.path == "/readyz" || info.path == "/healthz")) {
    labels.subresource = info.path;
    labels.component = "";
  }
  labels.verb = VerbLabel(info, known, method, labels.scope, content_type);
  labels.dry_run = DryRunLabel(query);
  return labels;
}

struct RequestMetrics::State {
  struct Entry {
    Entry(service::Metrics& metrics, const RequestLabels& given) : labels(given), series(metrics, labels.View()) {}
    const OwnedLabels labels;
    SeriesOfLabels series;
  };

  service::Metrics& metrics;
  service::Gauge in_flight[2];
  std::shared_mutex mutex;
  // The keys refer to the texts of the entries. Guarded by mutex.
  std::unordered_map<RequestLabels, std::unique_ptr<Entry>, HashOfLabels> series;

  explicit State(service::Metrics& given)
      : metrics(given), in_flight{InFlightGauge("readOnly"), InFlightGauge("mutating")} {}

  service::Gauge InFlightGauge(const char* kind) {
    return metrics.GetGauge("apiserver_current_inflight_requests", "Requests being served now.",
                            {{"request_kind", kind}});
  }
  // The caller must hold `mutex`.
  Series& Make(const RequestLabels& labels) {
    auto entry = std::make_unique<Entry>(metrics, labels);
    const RequestLabels key = entry->labels.View();
    return series.try_emplace(key, std::move(entry)).first->second->series;
  }
};

RequestMetrics::RequestMetrics(service::Metrics& metrics) : state_(std::make_unique<State>(metrics)) {}
RequestMetrics::~RequestMetrics() = default;

RequestMetrics::Series& RequestMetrics::Find(const RequestLabels& labels) {
  {
    const std::shared_lock lock(state_->mutex);
    if (const auto found = state_->series.find(labels); found != state_->series.end()) return found->second->series;
  }
  const std::lock_guard lock(state_->mutex);
  if (state_->series.size() < kMaxSeries) return state_->Make(labels);
  // Beyond the limit, for example with very many custom resources, all further labels share one series.
  return state_->Make(RequestLabels{.verb = "other"});
}

void RequestMetrics::InFlight(bool mutating, int change) { state_->in_flight[mutating].Add(change); }

}  // namespace apimesh::aggregator
