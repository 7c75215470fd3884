#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {

Filters BuildChain(const ChainOptions& options, ChainParts parts) {
  Filters chain;
  const auto add = [&chain](std::shared_ptr<Filter> filter) { chain.push_back(std::move(filter)); };
  // Run order, top to bottom.
  add(NewAuditId(parts.clock));                // first: every answer and every log line has the id
  add(NewPanicRecovery());                     // whatever goes wrong below is a 500, not a lost connection
  if (parts.audit_log) add(NewRefusalAudit(parts.audit_log, parts.clock));  // for refusals above NewAudit()
  add(NewRequestInfo());                       // all below decide by it; refuses paths with two meanings
  add(NewMetrics(parts.metrics, parts.routes, parts.clock));  // counts refusals too, so it is above all that refuse
  add(NewShutdown(parts.lifecycle));           // a stopping server sends clients away before it spends work on them
  add(NewCacheControl(options.hsts_directives));  // errors must not be cached either
  add(NewDeadline(options.request_timeout));   // the clock runs from here, authentication included
  add(NewCors(options.cors_allowed_origins));  // a browser's preflight has no credentials
  add(NewAuthentication(parts.authority, options.identity_headers, parts.auth_metrics, parts.clock));  // who asks
  if (parts.audit_log) add(NewAudit(parts.audit_log, parts.clock));  // knows who really asks, sees whom they act as
  add(NewImpersonation(parts.authority, parts.auth_metrics, parts.clock));  // all below see the user that is acted as
  add(NewMaxInFlight(options.max_requests_in_flight, options.max_mutating_requests_in_flight));  // by user, before work begins
  add(NewAuthorization(parts.authority, parts.auth_metrics, parts.clock));                       // the last gate
  add(std::move(parts.last));                  // generic routes, discovery, then the delegates
  return chain;
}

}  // namespace apimesh::aggregator
