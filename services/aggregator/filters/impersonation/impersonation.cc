#include "services/aggregator/filters/impersonation/impersonation.h"

#include "lib/base/log.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/selectors/query.h"
#include "services/aggregator/filters/deadline/deadline.h"
#include "services/aggregator/filters/impersonation/impersonation_modes.h"
#include "services/aggregator/metrics/auth_metrics.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kUser = "impersonate-user", kGroup = "impersonate-group", kUid = "impersonate-uid",
                           kExtra = "impersonate-extra-";
constexpr std::size_t kMostRights = 1000;

// Formats a user like %#v in kube-apiserver; used only in the message of a 400.
std::string Describe(const meta::UserInfo& user) {
  const auto list = [](const std::vector<std::string>& values) {
    std::vector<std::string> quoted;
    for (const std::string& value : values) quoted.push_back(meta::Quoted(value));
    return fmt::format("{{{}}}", fmt::join(quoted, ", "));
  };
  std::vector<std::string> extra;
  for (const auto& [key, values] : user.extra)
    extra.push_back(fmt::format("{}:[]string{}", meta::Quoted(key), list(values)));
  return fmt::format("&user.DefaultInfo{{Name:{}, UID:{}, Groups:[]string{}, Extra:map[string][]string{}}}",
                     meta::Quoted(user.name), meta::Quoted(user.uid), user.groups.empty() ? "(nil)" : list(user.groups),
                     extra.empty() ? "(nil)" : fmt::format("{{{}}}", fmt::join(extra, ", ")));
}

/// Reads the impersonation headers. Returns nullopt if there are none, and an error if they are inconsistent.
meta::Result<std::optional<meta::UserInfo>> ParseWanted(const http::Request& request) {
  meta::UserInfo wanted;
  wanted.name = request.Header(kUser);
  wanted.uid = request.Header(kUid);
  for (const auto& [name, value] : request.headers) {
    if (name == kGroup) wanted.groups.push_back(value);
    if (!name.starts_with(kExtra)) continue;
    const std::string raw = name.substr(kExtra.size());
    wanted.extra[meta::PercentDecode(raw, false).value_or(raw)].push_back(value);
  }
  // Each group and each extra value needs one authorization check.
  std::size_t rights = wanted.groups.size();
  for (const auto& [key, values] : wanted.extra) rights += values.size();
  if (rights > kMostRights)
    return meta::BadRequest(fmt::format("more than {} groups and extra values are impersonated", kMostRights));
  if (!wanted.name.empty()) return std::optional(std::move(wanted));
  if (wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty()) return std::optional<meta::UserInfo>();
  return meta::BadRequest(fmt::format("requested {} without impersonating a user name", Describe(wanted)));
}

class Impersonation final : public Filter {
 public:
  Impersonation(std::shared_ptr<Authority> authority, bool constrained, std::shared_ptr<AuthMetrics> metrics,
                const Clock& clock)
      : modes_(std::make_shared<ImpersonationModes>(std::move(authority), constrained)),
        constrained_(constrained),
        metrics_(std::move(metrics)),
        clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    bool asked = false;
    for (const auto& [name, value] : exchange.request.headers) asked |= name.starts_with("impersonate-");
    return asked ? Impersonate(exchange, next) : next(exchange);
  }

 private:
  Task<> Impersonate(Exchange& exchange, Next next) {
    auto wanted = ParseWanted(exchange.request);
    if (!wanted) {
      co_await exchange.reply.SendError(wanted.error());
      co_return;
    }
    if (*wanted) {
      AuthorizationQuestion request{exchange.user, exchange.info, exchange.audit_id, exchange.deadline};
      request.span = exchange.trace.span;
      const SteadyTime began = clock_.Steady();
      auto found = co_await modes_->Check(std::move(request), std::move(**wanted));
      metrics_->Impersonation(found ? found->mode : "", found.has_value(), clock_.Steady() - began);
      if (!found) {
        meta::ApiError error = found.error();  // a variable: GCC 12 destroys both sides of a condition inside co_await
        if (error.Code() == 503) error = NotAvailable(exchange, "authorization");
        // kube-apiserver sends this header only without constrained impersonation.
        if (!constrained_ && error.Code() == 403) exchange.reply.SetHeader("x-content-type-options", "nosniff");
        co_await exchange.reply.SendError(std::move(error));
        co_return;
      }
      if (exchange.grounds) exchange.grounds->permissions = std::move(found->permissions);
      exchange.impersonator = exchange.user;
      exchange.impersonation_constraint = std::move(found->constraint);
      exchange.user = MakeUser(std::move(found->user));
      log::Write(log::Level::kDebug,
                 fmt::format("{} is impersonating {}", exchange.impersonator->info.name, exchange.user->info.name),
                 exchange.audit_id);
    }
    std::erase_if(exchange.request.headers,
                  [](const auto& header) { return header.first.starts_with("impersonate-"); });
    co_await next(exchange);
  }

  const std::shared_ptr<ImpersonationModes> modes_;
  const bool constrained_;
  const std::shared_ptr<AuthMetrics> metrics_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> MakeImpersonation(const FilterInputs& inputs) {
  const bool constrained = inputs.features.Enabled(features::kConstrainedImpersonation);
  return std::make_shared<Impersonation>(inputs.authority, constrained, inputs.auth_metrics, inputs.clock);
}

}  // namespace apimesh::aggregator
