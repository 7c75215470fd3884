#include "services/aggregator/edge/request_body.h"

namespace apimesh::aggregator {
namespace {
constexpr int kRetryAfterSeconds = 1;
}  // namespace

Task<bool> ReadBody(Exchange& exchange) {
  if (!exchange.reply.HasBody()) co_return true;
  // A slow client must not keep others from being served.
  Seat* const seat = exchange.reply.BodyArrived() ? nullptr : exchange.seat;
  if (seat) seat->Leave();
  http::BodyTerms terms{exchange.deadline, exchange.user->info.name};
  auto body = co_await exchange.reply.ReadBody(std::move(terms));
  if (!body) {
    co_await exchange.reply.SendError(body.error());
    co_return false;
  }
  if (seat && !seat->Return()) {
    co_await exchange.reply.SendError(meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds));
    co_return false;
  }
  exchange.body = std::move(*body);
  if (exchange.audits_body) exchange.audited_body = exchange.body;
  co_return true;
}

}  // namespace apimesh::aggregator
