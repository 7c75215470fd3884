#pragma once

#include <boost/json/object.hpp>

#include <memory>

#include "lib/base/task.h"
#include "services/authn-authz/config/kubeconfig.h"

namespace apimesh::authn_authz {

/// Sends a review object to a webhook and gives back the answered one. Thread-safe.
class ReviewClient {
 public:
  virtual ~ReviewClient() = default;
  /// Tries again, a few times and ever slower, while the webhook is out of reach or answers 429 or 500; ends with the
  /// deadline. Errors never show what was sent.
  virtual Task<meta::Result<boost::json::object>> Review(std::string body, SteadyTime deadline) = 0;
};
std::unique_ptr<ReviewClient> NewReviewClient(WebhookEndpoint endpoint);

}  // namespace apimesh::authn_authz
