#include "lib/base/log.h"
#include "services/aggregator/filters/filters.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {
namespace {

using Outcome = AuthenticationAnswer::Outcome;

bool CarriesIdentity(std::string_view name) {
  return name == "authorization" || name == "sec-websocket-protocol" || name.starts_with("x-remote-");
}

class Authentication final : public Filter {
 public:
  explicit Authentication(std::shared_ptr<Authority> authority) : authority_(std::move(authority)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    AuthenticationQuestion question;
    const bool websocket = !exchange.request.Header("sec-websocket-protocol").empty();  // may hold a bearer token
    for (const auto& header : exchange.request.headers) {
      if (CarriesIdentity(header.first) || (websocket && (header.first == "upgrade" || header.first == "connection"))) {
        question.headers.push_back(header);
      }
    }
    question.certificates_der = exchange.client_certificates;
    question.path = exchange.path;
    question.remote_address = exchange.source_address;
    question.audit_id = exchange.audit_id;
    question.deadline = exchange.deadline;
    const AuthenticationAnswer answer = co_await authority_->Authenticate(std::move(question));
    switch (answer.outcome) {
      case Outcome::kAuthenticated:
        exchange.user = answer.user;
        break;
      case Outcome::kUnavailable:
        // Probes must be able to tell a dead edge from a dead authn-authz.
        if (IsHealthPath(exchange.path)) {
          exchange.user = anonymous_;
          break;
        }
        co_await exchange.reply.SendError(meta::ServiceUnavailable("authentication is not available, please try again later", 1));
        co_return;
      default:
        log::Write(log::Level::kDebug, fmt::format("unauthorized: {}", answer.reason), exchange.audit_id);
        co_await exchange.reply.SendError(meta::Unauthorized());
        co_return;
    }
    // Nothing behind this point may see a credential, or an identity that was not checked here.
    std::erase_if(exchange.request.headers, [](const auto& header) {
      return header.first == "authorization" || header.first.starts_with("x-remote-");
    });
    co_await next(exchange);
  }

 private:
  std::shared_ptr<Authority> authority_;
  UserPtr anonymous_ = MakeUser({.name = "system:anonymous", .uid = "", .groups = {"system:unauthenticated"}, .extra = {}});
};

}  // namespace

std::shared_ptr<Filter> NewAuthentication(std::shared_ptr<Authority> authority) {
  return std::make_shared<Authentication>(std::move(authority));
}

}  // namespace apimesh::aggregator
