#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "lib/service/webhook/review_client.h"

namespace apimesh::authn_authz::fake {

/// A webhook that gives every review the same answer, and records the reviews.
class FakeReview final : public service::ReviewClient {
 public:
  /// Returns a client that answers every review with this JSON.
  static std::unique_ptr<FakeReview> Answering(std::string_view json) {
    return std::make_unique<FakeReview>(boost::json::parse(std::string(json)).as_object());
  }
  explicit FakeReview(meta::Result<boost::json::object> answer) : answer_(std::move(answer)) {}
  Task<meta::Result<boost::json::object>> Review(std::string body, SteadyTime) override {
    sent.push_back(std::move(body));
    co_return answer_;
  }
  std::vector<std::string> sent;

 private:
  meta::Result<boost::json::object> answer_;
};

}  // namespace apimesh::authn_authz::fake
