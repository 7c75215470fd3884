#include "lib/service/stores/store_metrics.h"

#include <array>
#include <map>

namespace apimesh::service {
namespace {

using service::Labels;
using service::MetricFamily;
using storage::ResourceStats;

constexpr std::string_view kOperationNames[storage::kEtcdOperations] = {"get", "list", "create", "update", "delete"};

Labels LabelsOf(const meta::GroupResource& resource) {
  return {{"group", resource.group}, {"resource", resource.resource}};
}

class RequestMetrics final : public storage::EtcdObserver {
 public:
  RequestMetrics(service::Metrics& metrics, const meta::GroupResource& resource)
      : metrics_(metrics), resource_(resource) {}

  void Done(storage::EtcdOperation operation, Duration took, bool succeeded) override {
    Series& series = Of(operation);
    series.requests->Add();
    if (!succeeded) series.errors->Add();
    series.seconds->Observe(std::chrono::duration<double>(took).count());
  }

 private:
  struct Series {
    std::once_flag made;
    std::optional<service::Counter> requests, errors;
    std::optional<service::Histogram> seconds;
  };

  // Created by the first request of its kind, because most resources are never written.
  Series& Of(storage::EtcdOperation operation) {
    Series& series = series_[static_cast<std::size_t>(operation)];
    std::call_once(series.made, [&] {
      Labels labels = LabelsOf(resource_);
      labels["operation"] = kOperationNames[static_cast<std::size_t>(operation)];
      series.requests =
          metrics_.GetCounter("etcd_requests_total", "Requests to etcd by operation and kind of object.", labels);
      series.errors = metrics_.GetCounter("etcd_request_errors_total",
                                          "Failed requests to etcd by operation and kind of object.", labels);
      series.seconds = metrics_.GetHistogram(
          "etcd_request_duration_seconds", "Time that etcd took to answer, by operation and kind of object.",
          {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60},
          labels);
    });
    return series;
  }

  service::Metrics& metrics_;
  const meta::GroupResource resource_;
  std::array<Series, storage::kEtcdOperations> series_;
};

/// A statistic of a resource, and the metric family that contains it.
struct Figure {
  const char *name, *help;
  MetricFamily::Type type;
  double (*value)(const ResourceStats& stats);
  bool needs_objects = false;  // the value is -1 until the cache is filled
};

constexpr auto kCounter = MetricFamily::Type::kCounter, kGauge = MetricFamily::Type::kGauge;
constexpr Figure kFigures[] = {
    {"apiserver_resource_objects", "Number of stored objects; -1 if it is not known yet.", kGauge,
     [](const ResourceStats& stats) { return static_cast<double>(stats.objects); }, true},
    {"apiserver_resource_size_estimate_bytes", "Size of stored objects as JSON; -1 if it is not known yet.", kGauge,
     [](const ResourceStats& stats) { return static_cast<double>(stats.bytes); }, true},
    {"apiserver_storage_events_received_total", "Number of events received from etcd.", kCounter,
     [](const ResourceStats& stats) { return static_cast<double>(stats.events); }},
    {"apiserver_watch_cache_events_received_total", "Number of events that the watch cache took.", kCounter,
     [](const ResourceStats& stats) { return static_cast<double>(stats.events); }},
    {"apiserver_watch_cache_initializations_total", "How often the watch cache was filled.", kCounter,
     [](const ResourceStats& stats) { return static_cast<double>(stats.fills); }},
    {"apiserver_watch_cache_resource_version", "Newest revision that the watch cache has seen.", kGauge,
     [](const ResourceStats& stats) { return static_cast<double>(stats.revision % 1'000'000'000'000'000); }},
    {"apiserver_terminated_watchers_total", "Number of watches that were closed because their reader was too slow.",
     kCounter, [](const ResourceStats& stats) { return static_cast<double>(stats.slow_watchers); }},
};

/// Merges the statistics of the caches of each resource. A resource may have one cache per served version or group, and
/// one for lookups. The stored objects are the same in all of them; the counts of requests are added up.
std::vector<ResourceStats> OneEach(const std::vector<ResourceStats>& all) {
  std::vector<ResourceStats> stats;
  std::map<meta::GroupResource, std::size_t> places;
  for (const ResourceStats& one : all) {
    const auto [place, first] = places.emplace(one.resource, stats.size());
    if (first) {
      stats.push_back(one);
      continue;
    }
    ResourceStats& sum = stats[place->second];
    if (!sum.filled && one.filled) {
      sum.filled = true;
      sum.objects = one.objects;
      sum.bytes = one.bytes;
    }
    sum.slow_watchers += one.slow_watchers;
    sum.lists += one.lists;
    sum.indexed_lists += one.indexed_lists;
    sum.consistent_reads += one.consistent_reads;
    sum.failed_consistent_reads += one.failed_consistent_reads;
  }
  return stats;
}

void Append(std::vector<MetricFamily>& families, const std::vector<ResourceStats>& stats, const Figure& figure) {
  MetricFamily family{figure.name, figure.help, figure.type, {}};
  for (const ResourceStats& one : stats) {
    family.series.push_back({LabelsOf(one.resource), figure.needs_objects && !one.filled ? -1 : figure.value(one)});
  }
  families.push_back(std::move(family));
}

}  // namespace

std::function<std::shared_ptr<storage::EtcdObserver>(const meta::GroupResource&)> ObserveRequests(
    service::Metrics& metrics) {
  return
      [&metrics](const meta::GroupResource& resource) { return std::make_shared<RequestMetrics>(metrics, resource); };
}

std::vector<MetricFamily> DescribeStores(const std::vector<ResourceStats>& all) {
  const std::vector<ResourceStats> stats = OneEach(all);
  std::vector<MetricFamily> families;
  for (const Figure& figure : kFigures) Append(families, stats, figure);
  MetricFamily objects{"apiserver_storage_objects",
                       "Number of stored objects by resource.group; -1 if it is not known yet.",
                       kGauge,
                       {}};
  MetricFamily lists{"apiserver_cache_list_total",
                     "Number of lists served from the watch cache, by the index that was used.",
                     kCounter,
                     {}};
  MetricFamily reads{
      "apiserver_watch_cache_consistent_read_total", "Number of consistent reads from the watch cache.", kCounter, {}};
  for (const ResourceStats& one : stats) {
    objects.series.push_back(
        {{{"resource", one.resource.ToString()}}, one.filled ? static_cast<double>(one.objects) : -1});
    const auto add = [&](MetricFamily& family, Labels more, std::uint64_t value) {
      if (value == 0) return;
      more.merge(LabelsOf(one.resource));
      family.series.push_back({std::move(more), static_cast<double>(value)});
    };
    add(lists, {{"index", ""}}, one.lists);
    add(lists, {{"index", "selector"}}, one.indexed_lists);
    add(reads, {{"success", "true"}, {"fallback", "false"}}, one.consistent_reads);
    add(reads, {{"success", "false"}, {"fallback", "false"}}, one.failed_consistent_reads);
  }
  for (MetricFamily* family : {&objects, &lists, &reads}) families.push_back(std::move(*family));
  return families;
}

}  // namespace apimesh::service
