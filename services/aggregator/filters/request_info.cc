#include "services/aggregator/edge/target.h"
#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {
namespace {

bool IsLongRunning(const meta::RequestInfo& info) {
  if (info.verb == "watch" || info.verb == "proxy") return true;
  if (!info.is_resource_request) return info.path.starts_with("/debug/pprof/");
  const std::string& sub = info.subresource;
  return sub == "attach" || sub == "exec" || sub == "proxy" || sub == "log" || sub == "portforward";
}

class RequestInfoFilter final : public Filter {
 public:
  Task<> Handle(Exchange& exchange, Next next) override {
    auto target = ParseTarget(exchange.request.target);
    if (!target) {
      exchange.path = "/";
      exchange.info = meta::ParseRequestInfo(exchange.request.method, "/", "");  // for the log and the audit event
      return Refuse(exchange);
    }
    exchange.path = std::move(target->path);
    exchange.query = std::move(target->query);
    exchange.info = meta::ParseRequestInfo(exchange.request.method, exchange.path, exchange.query);
    exchange.long_running = IsLongRunning(exchange.info);
    return next(exchange);
  }

 private:
  static Task<> Refuse(Exchange& exchange) {
    co_await exchange.reply.SendError(meta::BadRequest("the request path is malformed"));
  }
};

}  // namespace

std::shared_ptr<Filter> NewRequestInfo() { return std::make_shared<RequestInfoFilter>(); }

}  // namespace apimesh::aggregator
