#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/http/server.h"
#include "lib/meta/request_info.h"
#include "services/aggregator/auth/open_requests.h"
#include "services/aggregator/edge/reply.h"

namespace apimesh::aggregator {

/// The place of a request among those in flight.
class Seat {
 public:
  virtual ~Seat() = default;
  /// Gives the place to others while this request waits for its client.
  virtual void Leave() = 0;
  /// False: there is no place left.
  virtual bool Return() = 0;
};

/// One request on its way through the edge; each filter adds what it learns.
struct Exchange {
  Exchange(http::Request given, http::ResponseWriter& writer) : request(std::move(given)), reply(writer) {}

  http::Request request;
  std::string body;  // of the request, once ReadBody() (request_body.h) has read it
  Reply reply;
  std::string path;   // decoded; the same for routing, authorization and whoever executes it
  std::string query;  // raw
  std::vector<std::string> client_certificates;  // DER, of the real client, also when it came through Envoy
  std::string source_address;                    // of the real client
  std::string audit_id;
  WallTime received{};
  SteadyTime started{};
  SteadyTime deadline = SteadyTime::max();
  meta::RequestInfo info;
  bool long_running = false;
  UserPtr user;          // who the request acts as
  UserPtr impersonator;  // who really asks, if that is someone else
  std::unique_ptr<Grounds> grounds;  // of a long-running request: what it was let in for, to be asked for again
  bool audit_decided = false;  // the audit filter has seen it
  Seat* seat = nullptr;  // nullptr: it is not limited
  bool audited = false;  // an audit event is written: what it should tell is worth collecting
  bool audits_body = false;  // the event has the body
  std::string audited_body;
  std::map<std::string, std::string> audit_annotations;
  std::string impersonation_constraint;  // the right that let them, if it was not the one for everything
};

}  // namespace apimesh::aggregator
