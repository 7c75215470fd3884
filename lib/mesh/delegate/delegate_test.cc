#include <condition_variable>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <gmock/gmock.h>

#include "lib/mesh/delegate/test_delegate.h"

namespace apimesh::mesh {
namespace {

TEST_P(DelegateTest, CallCarriesEverything) {
  Request request = For("/api/v1/pods");
  request.cluster = "c";
  request.query = "limit=5";
  request.headers = {{"accept", "application/json"}};
  request.user = {.name = "jane", .uid = "7", .groups = {"dev", "ops"}, .extra = {{"scopes", {"a", "b"}}}};
  request.info = {.is_resource_request = true,
                  .path = request.path,
                  .verb = meta::Verb::kList,
                  .api_prefix = "api",
                  .api_group = "",
                  .api_version = "v1",
                  .ns = "n",
                  .resource = "pods",
                  .subresource = "s",
                  .name = "x",
                  .parts = {"pods", "x"},
                  .field_selector = "f",
                  .label_selector = "l"};
  request.audit_id = "audit";
  request.traceparent = "trace";
  request.remote_address = "1.2.3.4";
  const Response response = Spawn(client_->Call(std::move(request))).get();
  EXPECT_EQ(response.code, 201);
  EXPECT_EQ(Join(response.body), "body" + std::string(10'000, 'x') + "end");
  EXPECT_EQ(response.headers, (Headers{{"content-type", "application/json"}}));
  const Request& seen = handler_->last;
  EXPECT_EQ(seen.cluster, "c");
  EXPECT_EQ(seen.method, "GET");
  EXPECT_EQ(seen.query, "limit=5");
  EXPECT_EQ(seen.Header("accept"), "application/json");
  EXPECT_EQ(seen.user, request.user);
  EXPECT_EQ(seen.info.path, "/api/v1/pods");
  EXPECT_EQ(seen.info.verb, meta::Verb::kList);
  EXPECT_EQ(seen.info.ns, "n");
  EXPECT_EQ(seen.info.parts, request.info.parts);
  EXPECT_EQ(seen.info.label_selector, "l");
  EXPECT_EQ(seen.audit_id, "audit");
  EXPECT_EQ(seen.remote_address, "1.2.3.4");
  EXPECT_EQ(seen.deadline, SteadyTime::max());
}

TEST_P(DelegateTest, HeadersNeedNotBeUtf8) {
  Request request = For("/x");
  request.headers = {{"x-odd", "caf\xe9"}};
  const Response response = Spawn(client_->Call(std::move(request))).get();
  EXPECT_EQ(response.code, 201);
  EXPECT_EQ(response.headers, (Headers{{"content-type", "application/json"}, {"x-odd", "caf\xe9"}}));
}

TEST_P(DelegateTest, ExceptionBecomesAnInternalError) { EXPECT_EQ(Call("/throw").code, 500); }

TEST_P(DelegateTest, DeadlineBecomesATimeout) {
  Call("/x");  // connects first, so that the deadline covers only the call
  const auto begin = testing::SystemClock().Steady();
  const Response response = Call("/hang", begin + 300ms);
  EXPECT_EQ(response.code, 504);
  EXPECT_LT(testing::SystemClock().Steady() - begin, 5s);
  EXPECT_TRUE(handler_->deadline_seen);
}

TEST_P(DelegateTest, PassedDeadlineStopsTheHandler) {
  Call("/x");
  EXPECT_EQ(Call("/wait", testing::SystemClock().Steady() + 500ms).code, 504);
  EXPECT_EQ(handler_->wait_ended.get_future().get(), boost::asio::error::operation_aborted);
}

TEST_P(DelegateTest, CancelledCallStopsTheHandler) {
  boost::asio::cancellation_signal cancel;
  std::promise<Response> ended;
  auto answered = [&ended](std::exception_ptr, Response response) { ended.set_value(std::move(response)); };
  boost::asio::co_spawn(io_, client_->Call(For("/wait")), boost::asio::bind_cancellation_slot(cancel.slot(), answered));
  handler_->started.get_future().get();
  boost::asio::post(io_, [&cancel] { cancel.emit(boost::asio::cancellation_type::terminal); });
  EXPECT_EQ(handler_->wait_ended.get_future().get(), boost::asio::error::operation_aborted);
  ended.get_future().get();
  EXPECT_EQ(Call("/x").code, 201) << "the server goes on";
}

TEST_P(DelegateTest, ServerThatIsDownIs503AtOnceAndIsFoundAgain) {
  EXPECT_EQ(Call("/x").code, 201);
  server_.reset();
  const auto begin = testing::SystemClock().Steady();
  for (int i = 0; i < 20; ++i) {
    const Response response = Call("/x", begin + 30s);
    EXPECT_EQ(response.code, 503);
    EXPECT_THAT(response.headers, ::testing::Contains(std::pair<std::string, std::string>("retry-after", "1")));
  }
  EXPECT_LT(testing::SystemClock().Steady() - begin, 10s) << "no call waited for its deadline";
  Serve();
  EXPECT_TRUE(testing::Eventually([this] { return Call("/x").code == 201; }, 10s));
}

TEST_P(DelegateTest, DescriptionIsFollowedThroughARestart) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> etags;
  const auto handle = client_->Describe([&](std::optional<Description> description) {
    std::lock_guard lock(mutex);
    etags.push_back(description ? description->etag : "lost");
    changed.notify_all();
  });
  auto wait_for_last = [&](const std::string& etag) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 5s, [&] { return !etags.empty() && etags.back() == etag; });
  };
  EXPECT_TRUE(wait_for_last("2"));
  server_.reset();
  EXPECT_TRUE(wait_for_last("lost"));
  Serve();
  EXPECT_TRUE(wait_for_last("2"));
}

std::string Name(const ::testing::TestParamInfo<std::pair<Transport, Threads>>& info) {
  return std::string(info.param.first == Transport::kUnix ? "Unix" : "Tls") +
         (info.param.second == Threads::kOne ? "OneThread" : "TwoThreads");
}
INSTANTIATE_TEST_SUITE_P(Ways, DelegateTest,
                         ::testing::Values(std::pair(Transport::kUnix, Threads::kOne),
                                           std::pair(Transport::kUnix, Threads::kTwo),
                                           std::pair(Transport::kTls, Threads::kOne)),
                         Name);

}  // namespace
}  // namespace apimesh::mesh
