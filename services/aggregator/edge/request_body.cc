#include "services/aggregator/edge/request_body.h"

#include "services/aggregator/edge/api_errors.h"

namespace apimesh::aggregator {
namespace {
constexpr int kRetryAfterSeconds = 1;
}  // namespace

Task<bool> ReadBody(Exchange& exchange) {
  if (!exchange.reply.HasBody()) co_return true;
  // Releases the slot while the body arrives, so that a slow client does not block other requests.
  RequestSlot* const slot = exchange.reply.BodyArrived() ? nullptr : exchange.slot;
  if (slot) slot->Release();
  http::BodyTerms terms{exchange.deadline, exchange.user->info.name};
  auto body = co_await exchange.reply.ReadBody(std::move(terms));
  if (!body) {
    co_await exchange.reply.SendError(ApiErrorOf(body.error()));
    co_return false;
  }
  if (slot && !slot->Acquire()) {
    exchange.metrics.terminated = true;
    co_await exchange.reply.SendError(
        meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds));
    co_return false;
  }
  exchange.body = std::move(*body);
  exchange.metrics.body_bytes = exchange.body.size();
  if (exchange.audit.wants_request && exchange.info.verb == meta::Verb::kPatch) exchange.audit.patch = exchange.body;
  co_return true;
}

}  // namespace apimesh::aggregator
