#pragma once

#include <memory>

#include <boost/json/object.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/service/webhook/kubeconfig.h"

namespace apimesh::service {

/// Sends a review object to a webhook and returns the webhook's answer. Thread-safe.
class ReviewClient {
 public:
  virtual ~ReviewClient() = default;
  /// Retries a few times with increasing pauses while the webhook is unreachable or answers 429 or 500, until the
  /// deadline. Errors never contain the request.
  virtual Task<meta::Result<boost::json::object>> Review(std::string body, SteadyTime deadline) = 0;
};
std::unique_ptr<ReviewClient> NewReviewClient(WebhookEndpoint endpoint, const Clock& clock);

}  // namespace apimesh::service
