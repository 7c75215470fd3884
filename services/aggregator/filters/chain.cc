#include "services/aggregator/filters/chain.h"

#include "services/aggregator/filters/audit/audit.h"
#include "services/aggregator/filters/audit_id/audit_id.h"
#include "services/aggregator/filters/authentication/authentication.h"
#include "services/aggregator/filters/authorization/authorization.h"
#include "services/aggregator/filters/cache_control/cache_control.h"
#include "services/aggregator/filters/cors/cors.h"
#include "services/aggregator/filters/deadline/deadline.h"
#include "services/aggregator/filters/goaway/goaway.h"
#include "services/aggregator/filters/impersonation/impersonation.h"
#include "services/aggregator/filters/max_in_flight/max_in_flight.h"
#include "services/aggregator/filters/metrics/metrics.h"
#include "services/aggregator/filters/panic_recovery/panic_recovery.h"
#include "services/aggregator/filters/priority_and_fairness/priority_and_fairness.h"
#include "services/aggregator/filters/refusal_audit/refusal_audit.h"
#include "services/aggregator/filters/request_info/request_info.h"
#include "services/aggregator/filters/shutdown/shutdown.h"
#include "services/aggregator/filters/tracing/tracing.h"

namespace apimesh::aggregator {
namespace {

/// Whether kube-apiserver records the time from a filter to the end of the request as a span.
enum class Spans { kNone, kAlways, kWithFilter };

/// A filter: the function that binds its options (nullptr: it has none) and its factory.
struct Entry {
  std::string_view name;
  void (*bind)(flags::OptionSet& options, flags::Binder& flags);
  std::shared_ptr<Filter> (*make)(const FilterInputs& inputs);
  std::string_view why_here;
  Spans spans = Spans::kNone;  // kAlways: also if the options disable the filter
  std::string_view span = {};
};
using flags::BindOptions;

// The filters in run order.
constexpr Entry kFilters[] = {
    {"audit id", nullptr, &MakeAuditId, "first: every answer and every log line has the id"},
    {"panic recovery", nullptr, &MakePanicRecovery,
     "an exception of any filter below becomes a 500, not a lost connection"},
    {"refusal audit", nullptr, &MakeRefusalAudit, "records requests that are refused above the filter \"audit\""},
    {"request info", nullptr, &MakeRequestInfo, "all below decide by it; refuses paths with two meanings"},
    {"metrics", nullptr, &MakeMetrics, "above all other filters that refuse, so that refusals are counted too"},
    {"shutdown", nullptr, &MakeShutdown, "a stopping server sends clients away before it spends work on them"},
    {"cache control", &BindOptions<CacheControlOptions>, &MakeCacheControl, "errors must not be cached either"},
    {"goaway", &BindOptions<GoawayOptions>, &MakeGoaway, "errors spread clients over the replicas, too"},
    {"deadline", &BindOptions<DeadlineOptions>, &MakeDeadline, "the time limit includes authentication"},
    {"cors", &BindOptions<CorsOptions>, &MakeCors,
     "before authentication: the preflight of a browser has no credentials"},
    {"authentication", &BindOptions<IdentityHeaders>, &MakeAuthentication, "all below need to know the user",
     Spans::kAlways, "authentication"},
    {"tracing", nullptr, &MakeTracing, "after authentication: only some users may continue a trace"},
    {"audit", nullptr, &MakeAudit, "after authentication, before impersonation: records the user and whom they act as",
     Spans::kAlways, "audit"},
    {"impersonation", nullptr, &MakeImpersonation, "all below see the user that is acted as", Spans::kAlways,
     "constrainedimpersonation"},
    {"priority and fairness", &BindOptions<PriorityAndFairnessOptions>, &MakePriorityAndFairness,
     "limits by user, before work begins", Spans::kWithFilter, "priorityandfairness"},
    {"max in flight", &BindOptions<MaxInFlightOptions>, &MakeMaxInFlight,
     "the simpler limit, if priority and fairness is off"},
    {"authorization", nullptr, &MakeAuthorization, "the last check", Spans::kAlways, "authorization"},
};

void Add(std::shared_ptr<Filter> filter, Filters& chain) {
  if (filter) chain.push_back(std::move(filter));
}

}  // namespace

void BindFilters(flags::OptionSet& options, flags::Binder& flags) {
  for (const Entry& entry : kFilters) {
    if (entry.bind) entry.bind(options, flags);
  }
}

Filters BuildChain(const FilterInputs& inputs, std::shared_ptr<Filter> last) {
  Filters chain;
  for (const Entry& entry : kFilters) {
    std::shared_ptr<Filter> filter = entry.make(inputs);
    if (entry.spans == Spans::kAlways || (entry.spans == Spans::kWithFilter && filter)) {
      // The request's own span begins in the filter "tracing".
      const bool first = entry.make == &MakeAuthentication;
      Add(first ? MakeFirstSpan(entry.span) : MakeFilterSpan(entry.span), chain);
    }
    Add(std::move(filter), chain);
  }
  chain.push_back(std::move(last));
  return chain;
}

Filters BuildDebugChain(const FilterInputs& inputs, std::shared_ptr<Filter> last) {
  return {MakeAuditId(inputs), MakePanicRecovery(inputs), MakeRequestInfo(inputs), std::move(last)};
}

}  // namespace apimesh::aggregator
