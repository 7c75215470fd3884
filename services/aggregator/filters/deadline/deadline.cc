#include "services/aggregator/filters/deadline/deadline.h"

#include "lib/meta/selectors/query.h"
#include "lib/service/flags.h"

namespace apimesh::aggregator {
namespace {

/// Sets the deadline of the request. It is part of every call to other processes. If such a process does not answer in
/// time, the gRPC client of the edge ends the call and the client gets a 504.
class Deadline final : public Filter {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    if (exchange.long_running) return next(exchange);
    std::chrono::milliseconds limit = limit_;
    if (exchange.query.find("timeout=") != std::string::npos) {
      if (const auto asked = meta::QueryParameters(exchange.query).First("timeout"); asked && !asked->empty()) {
        const auto parsed = service::ParseDuration(*asked);
        if (!parsed) return Refuse(exchange, *asked);
        if (parsed->count() > 0) limit = std::min(limit, *parsed);
      }
    }
    exchange.deadline = exchange.started + limit;
    return next(exchange);
  }

 private:
  static Task<> Refuse(Exchange& exchange, std::string text) {
    co_await exchange.reply.SendError(meta::BadRequest(
        fmt::format("invalid timeout specified in the request URL - time: invalid duration \"{}\"", text)));
  }

  std::chrono::milliseconds limit_;
};

}  // namespace

meta::ApiError NotAvailable(const Exchange& exchange, std::string_view what) {
  if (exchange.clock.Steady() >= exchange.deadline)
    return meta::Timeout("request did not complete within the allotted timeout");
  return meta::ServiceUnavailable(fmt::format("{} is not available, please try again later", what), 1);
}

std::shared_ptr<Filter> MakeDeadline(const FilterInputs& inputs) {
  return std::make_shared<Deadline>(inputs.Get<DeadlineOptions>().request_timeout);
}

}  // namespace apimesh::aggregator
