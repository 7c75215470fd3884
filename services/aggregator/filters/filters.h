#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

class Lifecycle;
class AuditLog;
class AuthMetrics;
class RequestMetrics;
class RouteTable;

/// Headers by which a front proxy with a certificate of its own names the user: those of --requestheader-*, and always
/// x-remote-*. They go to authn-authz, which believes them or not, and no further.
struct IdentityHeaders {
  std::vector<std::string> username, uid, group, extra_prefixes;
};

// One factory a filter, each in the file of its name. chain.cc has them in order, with the reason for each.
std::shared_ptr<Filter> NewPanicRecovery();
std::shared_ptr<Filter> NewAuditId(const Clock& clock);
std::shared_ptr<Filter> NewRequestInfo();
std::shared_ptr<Filter> NewMetrics(std::shared_ptr<RequestMetrics> metrics, std::shared_ptr<RouteTable> routes, const Clock& clock);
std::shared_ptr<Filter> NewShutdown(std::shared_ptr<Lifecycle> lifecycle);
std::shared_ptr<Filter> NewDeadline(std::chrono::milliseconds limit);
/// Throws on a bad pattern.
std::shared_ptr<Filter> NewCors(const std::vector<std::string>& allowed_origins);
std::shared_ptr<Filter> NewCacheControl(const std::vector<std::string>& hsts_directives);
std::shared_ptr<Filter> NewAuthentication(std::shared_ptr<Authority> authority, const IdentityHeaders& identity,
                                          std::shared_ptr<AuthMetrics> metrics, const Clock& clock);
std::shared_ptr<Filter> NewAudit(std::shared_ptr<AuditLog> log, const Clock& clock);
std::shared_ptr<Filter> NewRefusalAudit(std::shared_ptr<AuditLog> log, const Clock& clock);
std::shared_ptr<Filter> NewImpersonation(std::shared_ptr<Authority> authority, std::shared_ptr<AuthMetrics> metrics,
                                         const Clock& clock);
/// 0: no limit.
std::shared_ptr<Filter> NewMaxInFlight(int reads, int writes);
std::shared_ptr<Filter> NewAuthorization(std::shared_ptr<Authority> authority, std::shared_ptr<AuthMetrics> metrics,
                                         const Clock& clock);

/// The answer when authn-authz gave none: 504 if the time of the request is up, else 503.
meta::ApiError NotAvailable(const Exchange& exchange, std::string_view what);

struct ChainOptions {
  std::chrono::milliseconds request_timeout{60'000};
  int max_requests_in_flight = 400;
  int max_mutating_requests_in_flight = 200;
  std::vector<std::string> cors_allowed_origins;
  std::vector<std::string> hsts_directives;
  IdentityHeaders identity_headers;
};
struct ChainParts {
  std::shared_ptr<Lifecycle> lifecycle;
  std::shared_ptr<Authority> authority;
  std::shared_ptr<AuditLog> audit_log;  // null: no audit
  std::shared_ptr<RequestMetrics> metrics;
  std::shared_ptr<AuthMetrics> auth_metrics;
  std::shared_ptr<RouteTable> routes;
  std::shared_ptr<Filter> last;  // answers
  const Clock& clock;
};
/// All of them, in run order.
Filters BuildChain(const ChainOptions& options, ChainParts parts);

}  // namespace apimesh::aggregator
