#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "lib/meta/request/request_info.h"
#include "lib/service/metrics.h"
#include "services/aggregator/metrics/watch_events.h"

namespace apimesh::aggregator {

/// The labels of a request's metrics. The texts must live as long as the request. Values are from closed sets: what a
/// client can invent (methods, paths, resources that are not served) is replaced by one shared value.
struct RequestLabels {
  std::string_view verb, dry_run, group, version, resource, subresource, scope, component = "apiserver";
  bool operator==(const RequestLabels&) const = default;
};

/// `known`: the resource is served by this mesh. `content_type` is that of the request.
RequestLabels LabelsOf(const meta::RequestInfo& info, bool known, std::string_view method, std::string_view query,
                       std::string_view content_type);

/// kube-apiserver's metrics of requests. Thread-safe.
class RequestMetrics {
 public:
  /// The metrics of all requests with the same labels. Series that no request has used yet do not exist. Thread-safe.
  class Series {
   public:
    using Seconds = std::chrono::duration<double>;
    virtual ~Series() = default;
    /// A finished request. `waited` is the part of `took` in which it waited for priority and fairness.
    virtual void Record(int code, Seconds took, Seconds waited) = 0;
    virtual void ResponseSize(std::size_t bytes) = 0;
    virtual void BodySize(meta::Verb verb, std::size_t bytes) = 0;
    virtual void LongRunning(int change) = 0;
    /// The server has ended the request to protect itself, before it was served.
    virtual void Terminated(int code) = 0;
    /// `removed_release` is empty if it is not known.
    virtual void Deprecated(const std::string& removed_release) = 0;
    /// A watch has sent the initial events that it was asked for.
    virtual void WatchListDone(Seconds took) = 0;
    /// The metrics of the events of watches.
    virtual WatchEventMetrics& Events() = 0;
  };

  explicit RequestMetrics(service::Metrics& metrics);
  ~RequestMetrics();

  /// The series lives as long as this object.
  Series& Find(const RequestLabels& labels);
  void InFlight(bool mutating, int change);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
