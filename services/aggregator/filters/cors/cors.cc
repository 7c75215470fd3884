#include "services/aggregator/filters/cors/cors.h"

#include <stdexcept>

#include <re2/re2.h>

namespace apimesh::aggregator {
namespace {

class Cors final : public Filter {
 public:
  explicit Cors(const std::vector<std::string>& origins) {
    for (const std::string& origin : origins) {
      patterns_.push_back(std::make_unique<re2::RE2>(origin));
      if (!patterns_.back()->ok()) throw std::runtime_error("--cors-allowed-origins: " + patterns_.back()->error());
    }
  }

  Task<> Handle(Exchange& exchange, Next next) override {
    const std::string origin(exchange.request.Header("origin"));
    if (origin.empty() || !Allowed(origin)) return next(exchange);
    exchange.reply.SetHeader("access-control-allow-origin", origin);
    exchange.reply.SetHeader("access-control-allow-methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH");
    exchange.reply.SetHeader(
        "access-control-allow-headers",
        "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, "
        "If-Modified-Since");
    exchange.reply.SetHeader("access-control-expose-headers", "Date");
    exchange.reply.SetHeader("access-control-allow-credentials", "true");
    return exchange.request.method == "OPTIONS" ? AnswerPreflight(exchange) : next(exchange);
  }

 private:
  static Task<> AnswerPreflight(Exchange& exchange) {
    http::Headers headers;
    std::vector<SharedBytes> body;
    co_await exchange.reply.Send(204, std::move(headers), std::move(body));
  }

  bool Allowed(const std::string& origin) const {
    for (const auto& pattern : patterns_) {
      if (re2::RE2::PartialMatch(origin, *pattern)) return true;
    }
    return false;
  }

  std::vector<std::unique_ptr<re2::RE2>> patterns_;
};

}  // namespace

std::shared_ptr<Filter> MakeCors(const FilterInputs& inputs) {
  return std::make_shared<Cors>(inputs.Get<CorsOptions>().allowed_origins);
}

}  // namespace apimesh::aggregator
