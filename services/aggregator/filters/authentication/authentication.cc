#include "services/aggregator/filters/authentication/authentication.h"

#include "lib/base/log.h"
#include "lib/base/text/text.h"
#include "services/aggregator/filters/deadline/deadline.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/metrics/auth_metrics.h"

namespace apimesh::aggregator {
namespace {

using Outcome = AuthenticationAnswer::Outcome;

/// Removes bearer tokens from sec-websocket-protocol, where browsers send them. Servers behind the edge see only the
/// other protocols.
void DropTokenProtocols(http::Headers& headers) {
  constexpr std::string_view kToken = "base64url.bearer.authorization.k8s.io.";
  for (auto& [name, value] : headers) {
    if (name != "sec-websocket-protocol" || value.find(kToken) == std::string::npos) continue;
    std::string kept;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string_view protocol = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      while (protocol.starts_with(' ')) protocol.remove_prefix(1);
      if (protocol.starts_with(kToken)) continue;
      kept += kept.empty() ? "" : ", ";
      kept += protocol;
    }
    value = std::move(kept);
  }
  std::erase_if(headers,
                [](const auto& header) { return header.first == "sec-websocket-protocol" && header.second.empty(); });
}

/// Many streams of one connection are cheap for a client, so clients without credentials get one request per
/// connection, as with HTTP/1.1.
void LimitToOneRequest(Exchange& exchange) {
  if (exchange.request.peer->UsesHttp2()) exchange.reply.SetHeader("connection", "close");
}

AuthMetrics::Authentication ResultOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAuthenticated: return AuthMetrics::Authentication::kSuccess;
    case Outcome::kNoCredentials: return AuthMetrics::Authentication::kFailure;
    default: return AuthMetrics::Authentication::kError;
  }
}

class Authentication final : public Filter {
 public:
  Authentication(std::shared_ptr<Authority> authority, const IdentityHeaders& identity,
                 std::shared_ptr<AuthMetrics> metrics, const Clock& clock)
      : authority_(std::move(authority)), metrics_(std::move(metrics)), clock_(clock) {
    for (const auto* names : {&identity.username, &identity.uid, &identity.group}) {
      for (const std::string& name : *names) identity_names_.push_back(LowerCase(name));
    }
    for (const std::string& prefix : identity.extra_prefixes) identity_prefixes_.push_back(LowerCase(prefix));
  }

  Task<> Handle(Exchange& exchange, Next next) override {
    AuthenticationQuestion question;
    const bool websocket = !exchange.request.Header("sec-websocket-protocol").empty();  // may hold a bearer token
    for (const auto& header : exchange.request.headers) {
      const bool credential = header.first == "authorization" || header.first == "sec-websocket-protocol";
      if (credential || NamesTheUser(header.first) ||
          (websocket && (header.first == "upgrade" || header.first == "connection"))) {
        question.headers.push_back(header);
      }
    }
    question.certificates_der = exchange.client_certificates;
    question.path = exchange.path;
    question.remote_address = exchange.source_address;
    question.audit_id = exchange.audit_id;
    question.deadline = exchange.deadline;
    if (exchange.long_running) exchange.grounds = std::make_unique<Grounds>(Grounds{question, nullptr, {}});
    question.span = exchange.trace.span;
    const SteadyTime began = clock_.Steady();
    const AuthenticationAnswer answer = co_await authority_->Authenticate(std::move(question));
    exchange.latency.authentication = clock_.Steady() - began;
    metrics_->Authenticated(ResultOf(answer.outcome), answer.user ? answer.user->info.name : "",
                            exchange.latency.authentication);
    switch (answer.outcome) {
      case Outcome::kAuthenticated: exchange.user = answer.user; break;
      case Outcome::kUnavailable:
        // Probes must be able to distinguish a failed edge from a failed authn-authz.
        if (IsHealthPath(exchange.path)) {
          exchange.user = anonymous_;
          break;
        }
        co_await exchange.reply.SendError(NotAvailable(exchange, "authentication"));
        co_return;
      default:
        LimitToOneRequest(exchange);
        log::Write(log::Level::kDebug, fmt::format("unauthorized: {}", answer.reason), exchange.audit_id);
        co_await exchange.reply.SendError(meta::Unauthorized());
        co_return;
    }
    if (exchange.user->info.name == "system:anonymous") LimitToOneRequest(exchange);
    if (exchange.grounds) exchange.grounds->user = exchange.user;
    // No server behind this point may receive credentials, or an identity that was not verified here.
    std::erase_if(exchange.request.headers, [this](const auto& header) {
      return header.first == "authorization" || NamesTheUser(header.first) || ImitatesTheUser(header.first);
    });
    if (websocket) DropTokenProtocols(exchange.request.headers);
    co_await next(exchange);
  }

 private:
  bool NamesTheUser(std::string_view name) const {
    const auto is_prefix = [name](const std::string& prefix) { return name.starts_with(prefix); };
    return std::any_of(identity_prefixes_.begin(), identity_prefixes_.end(), is_prefix) ||
           std::find(identity_names_.begin(), identity_names_.end(), name) != identity_names_.end();
  }

  /// Whether the name equals an identity header if underscores are replaced by dashes. The mesh does not read such a
  /// header, but a server behind it might.
  bool ImitatesTheUser(const std::string& name) const {
    if (name.find('_') == std::string::npos) return false;
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return NamesTheUser(dashed);
  }

  std::shared_ptr<Authority> authority_;
  std::vector<std::string> identity_names_, identity_prefixes_{"x-remote-"};
  const std::shared_ptr<AuthMetrics> metrics_;
  const Clock& clock_;
  UserPtr anonymous_ =
      MakeUser({.name = "system:anonymous", .uid = "", .groups = {"system:unauthenticated"}, .extra = {}});
};

}  // namespace

std::shared_ptr<Filter> MakeAuthentication(const FilterInputs& inputs) {
  return std::make_shared<Authentication>(inputs.authority, inputs.Get<IdentityHeaders>(), inputs.auth_metrics,
                                          inputs.clock);
}

}  // namespace apimesh::aggregator
