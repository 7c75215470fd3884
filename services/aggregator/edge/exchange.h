#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/http/server.h"
#include "lib/meta/request/request_info.h"
#include "lib/tracing/span.h"
#include "services/aggregator/auth/open_requests.h"
#include "services/aggregator/edge/reply.h"
#include "services/aggregator/metrics/request_metrics.h"

namespace apimesh::aggregator {

/// What a request occupies of the limit of requests in flight.
class RequestSlot {
 public:
  virtual ~RequestSlot() = default;
  /// Releases the slot while this request waits for its client, or because a watch is initialised.
  virtual void Release() = 0;
  /// Acquires a slot. Returns false if the limit is reached.
  virtual bool Acquire() = 0;
};

/// What the audit events of a request contain besides the results of the filters.
struct AuditNotes {
  bool decided = false;        // the filter "audit" has seen the request
  bool wanted = false;         // events are written, so annotations must be collected
  bool wants_request = false;  // the events contain the request
  bool foreign = false;        // a server outside of the mesh answers: its requests and responses are not recorded
  std::string patch;           // the body of a PATCH, if it is wanted
  SharedBytes object;          // the decoded body of another write, as JSON, if it is wanted
  std::string reference;       // JSON: namespace, name, uid and resourceVersion of that body
  std::map<std::string, std::string> annotations;
};

/// What the metrics of a request contain besides its labels, its duration and its response.
struct MetricsNotes {
  RequestMetrics::Series* series = nullptr;  // set by the filter "metrics"
  std::optional<std::size_t> body_bytes;     // of a request that was forwarded
  bool terminated = false;                   // the server refused the request to protect itself

  /// The metrics of the events that a watch sends; nullptr if they are not measured.
  WatchEventMetrics* Events() const { return series ? &series->Events() : nullptr; }
};

/// How long the request took in filters that may wait. The filters set it.
struct LatencyNotes {
  Duration authentication{}, impersonation{};
  Duration queued{};  // in the queues of priority and fairness
  Duration authorization{};
};

/// The state of one request in the edge. Each filter adds what it determines.
struct Exchange {
  Exchange(http::Request given, http::ResponseWriter& writer, const Clock& given_clock)
      : clock(given_clock), request(std::move(given)), reply(writer) {}

  const Clock& clock;
  http::Request request;
  std::string body;  // of the request, once ReadBody() (request_body.h) has read it
  Reply reply;
  std::string path;                              // decoded; used for routing, authorization and execution alike
  std::string query;                             // raw
  std::vector<std::string> client_certificates;  // DER, of the real client even if the request came through Envoy
  std::string source_address;                    // of the real client
  std::string forwarded_for;                     // X-Forwarded-For, for the audit event; not verified
  std::string audit_id;
  WallTime received{};
  SteadyTime started{};
  SteadyTime deadline = SteadyTime::max();
  meta::RequestInfo info;
  bool long_running = false;
  UserPtr user;                      // the effective user, after impersonation
  UserPtr impersonator;              // the authenticated user if it impersonates another user
  std::unique_ptr<Grounds> grounds;  // for a long-running request: the credentials and permissions to check again
  RequestSlot* slot = nullptr;       // nullptr: the request is not limited
  AuditNotes audit;
  MetricsNotes metrics;
  LatencyNotes latency;
  tracing::Carrier trace;                // of the filter that runs; empty if tracing is off
  std::string impersonation_constraint;  // verb of the constrained mode that allowed it; "" for legacy
};

}  // namespace apimesh::aggregator
