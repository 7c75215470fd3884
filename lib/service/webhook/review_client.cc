#include "lib/service/webhook/review_client.h"

#include <boost/asio/steady_timer.hpp>

#include "lib/http/client.h"

namespace apimesh::service {
namespace {

constexpr int kTries = 5;
constexpr auto kFirstPause = std::chrono::milliseconds(500);

class HttpReviewClient final : public ReviewClient {
 public:
  HttpReviewClient(WebhookEndpoint endpoint, const Clock& clock)
      : endpoint_(std::move(endpoint)),
        clock_(clock),
        client_(http::NewClient({.clock = clock, .tls = endpoint_.tls, .network = http::Network::kControlPlane})) {}

  Task<meta::Result<boost::json::object>> Review(std::string body, SteadyTime deadline) override {
    std::chrono::milliseconds pause = kFirstPause;
    std::string problem;
    for (int i = 0; i < kTries; ++i) {
      if (i > 0) {
        if (clock_.Steady() + pause >= deadline) break;
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, pause);
        co_await timer.async_wait(boost::asio::use_awaitable);
        pause = pause * 3 / 2;
      }
      http::Headers headers{{"content-type", "application/json"}, {"accept", "application/json"}};
      if (!endpoint_.authorization.empty()) headers.emplace_back("authorization", endpoint_.authorization);
      const auto response = co_await client_->Do("POST", endpoint_.url, std::move(headers), body, deadline);
      if (!response) {
        problem = response.error().message;
        if (response.error().code == http::ClientError::Code::kTls) break;
        continue;
      }
      if (response->code == 429 || response->code == 500) {
        problem = fmt::format("the webhook answered {}", response->code);
        continue;
      }
      if (response->code < 200 || response->code > 299) {
        co_return meta::InternalError(fmt::format("the webhook answered {}", response->code));
      }
      boost::system::error_code error;
      boost::json::value value = boost::json::parse(response->body, error);
      if (error || !value.is_object()) co_return meta::InternalError("the webhook did not answer with a JSON object");
      co_return std::move(value.get_object());
    }
    co_return meta::InternalError(fmt::format("the webhook can't be reached: {}", problem));
  }

 private:
  const WebhookEndpoint endpoint_;
  const Clock& clock_;
  const std::unique_ptr<http::Client> client_;
};

}  // namespace

std::unique_ptr<ReviewClient> NewReviewClient(WebhookEndpoint endpoint, const Clock& clock) {
  return std::make_unique<HttpReviewClient>(std::move(endpoint), clock);
}

}  // namespace apimesh::service
