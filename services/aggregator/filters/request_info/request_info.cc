#include "services/aggregator/filters/request_info/request_info.h"

#include <algorithm>

#include "services/aggregator/edge/target.h"

namespace apimesh::aggregator {
namespace {

constexpr std::ptrdiff_t kMostParameters = 10'000;  // the limit of Go

bool IsLongRunning(const meta::RequestInfo& info) {
  if (info.verb == meta::Verb::kWatch || info.verb == meta::Verb::kProxy) return true;
  if (!info.is_resource_request) return info.path.starts_with("/debug/pprof/");
  const std::string& sub = info.subresource;
  return sub == "attach" || sub == "exec" || sub == "proxy" || sub == "log" || sub == "portforward";
}

class RequestInfoFilter final : public Filter {
 public:
  Task<> Handle(Exchange& exchange, Next next) override {
    auto target = ParseTarget(exchange.request.target);
    if (!target) return Refuse(exchange, "the request path is malformed");
    if (std::count(target->query.begin(), target->query.end(), '&') >= kMostParameters) {
      return Refuse(exchange, "the request has too many query parameters");
    }
    exchange.path = std::move(target->path);
    exchange.query = std::move(target->query);
    exchange.info = meta::ParseRequestInfo(exchange.request.method, exchange.path, exchange.query);
    exchange.long_running = IsLongRunning(exchange.info);
    return next(exchange);
  }

 private:
  static Task<> Refuse(Exchange& exchange, std::string_view why) {
    exchange.path = "/";
    exchange.info = meta::ParseRequestInfo(exchange.request.method, "/", "");  // for the log and the audit event
    co_await exchange.reply.SendError(meta::BadRequest(why));
  }
};

}  // namespace

std::shared_ptr<Filter> MakeRequestInfo(const FilterInputs&) { return std::make_shared<RequestInfoFilter>(); }

}  // namespace apimesh::aggregator
