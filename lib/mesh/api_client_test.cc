#include "lib/mesh/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/mesh/in_process.h"
#include "lib/testing/run.h"

namespace apimesh::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const meta::GroupResource kConfigMaps{"", "configmaps"};

/// Serves one ConfigMap, a list of two in several pieces, and broken responses. It records how it was called.
class TestServer final : public DelegateHandler {
 public:
  Task<Response> Call(Request&& request) override {
    seen.push_back("call " + request.method + " " + request.path);
    last = std::move(request);
    if (last.path.ends_with("/text")) {
      Response text;
      text.code = 404;
      text.body.emplace_back("404 page not found\n");
      co_return text;
    }
    if (last.path.ends_with("/absent")) co_return Response::Error(meta::NotFound(kConfigMaps, "absent"));
    co_return Response::Json(last.method == "POST" ? 201 : 200, R"({"kind":"ConfigMap","metadata":{"name":"a"}})");
  }

  Task<> Stream(Request request, ResponseStream& stream) override {
    seen.push_back("stream " + request.method + " " + request.path);
    last = std::move(request);
    if (last.path.ends_with("/secrets")) {
      Response refused = Response::Error(meta::ServiceUnavailable("not yet"));
      co_await stream.WriteComplete(std::move(refused));
      co_return;
    }
    stream.OnCancel([this] { cancelled = true; });
    if (last.path.ends_with("/pods")) co_return;
    Headers headers;
    co_await stream.WriteHead(200, std::move(headers));
    std::vector<SharedBytes> first(1, SharedBytes(R"({"kind":"List","items":[{"metadata":{"name":"a"}},)"));
    co_await stream.Write(std::move(first));
    if (last.path.ends_with("/nodes")) {
      stream.Abort();
      co_return;
    }
    std::vector<SharedBytes> rest(1, SharedBytes(R"(3,{"metadata":{"name":"b"}}]})"));
    co_await stream.Write(std::move(rest));
  }
  Task<> Connect(Request, std::unique_ptr<ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(Description)>) override { return nullptr; }

  std::vector<std::string> seen;
  Request last;
  bool cancelled = false;
};

class ApiClients : public ::testing::Test {
 protected:
  const std::shared_ptr<TestServer> server_ = std::make_shared<TestServer>();
  const ApiClient api_{InProcess(server_)};
};

TEST_F(ApiClients, AnObjectIsACall) {
  const auto object =
      testing::RunTask(api_.SendForObject({.path = "/api/v1/namespaces/x/configmaps/a", .query = "pretty=false"}));
  ASSERT_TRUE(object) << object.error().Message();
  EXPECT_EQ(object->Name(), "a");
  EXPECT_THAT(server_->seen, ElementsAre("call GET /api/v1/namespaces/x/configmaps/a"));
  EXPECT_EQ(server_->last.query, "pretty=false");
  EXPECT_EQ(server_->last.info.name, "a");
  EXPECT_EQ(server_->last.user.name, "system:apiserver");
  EXPECT_THAT(server_->last.user.groups, ElementsAre("system:masters", "system:authenticated"));
  EXPECT_THAT(server_->last.headers,
              ElementsAre(Pair("accept", "application/json"), Pair("user-agent", meta::OwnUserAgent())));
}

TEST_F(ApiClients, AWriteHasABodyItsTypeAUserAndADeadline) {
  ApiRequest request{.method = "PATCH", .path = "/api/v1/namespaces/x/configmaps/a", .body = "{}"};
  request.content_type = "application/merge-patch+json";
  request.user.name = "jane";
  request.user_agent = "test";
  request.deadline = SteadyTime(std::chrono::seconds(7));
  ASSERT_TRUE(testing::RunTask(api_.SendForObject(request)));
  EXPECT_EQ(server_->last.body, "{}");
  EXPECT_EQ(server_->last.Header("content-type"), "application/merge-patch+json");
  EXPECT_EQ(server_->last.Header("user-agent"), "test");
  EXPECT_EQ(server_->last.user.name, "jane");
  EXPECT_EQ(server_->last.info.verb, meta::Verb::kPatch);
  EXPECT_EQ(server_->last.deadline, request.deadline);
}

TEST_F(ApiClients, ACodeOf201IsASuccess) {
  EXPECT_TRUE(testing::RunTask(
      api_.SendForObject({.method = "POST", .path = "/api/v1/namespaces/x/configmaps", .body = "{}"})));
}

TEST_F(ApiClients, AListIsOneStreamWhosePiecesAreJoined) {
  const auto items = testing::RunTask(api_.ListItems({.path = "/api/v1/configmaps"}));
  ASSERT_TRUE(items) << items.error().Message();
  ASSERT_EQ(items->size(), 2u) << "an item that is not an object is left out";
  EXPECT_EQ((*items)[1].Name(), "b");
  EXPECT_THAT(server_->seen, ElementsAre("stream GET /api/v1/configmaps"));
}

TEST_F(ApiClients, AListCanBeCancelled) {
  ApiRequest request{.path = "/api/v1/configmaps"};
  request.on_cancel = [](std::function<void()> cancel) { cancel(); };
  testing::RunTask(api_.Send(std::move(request)));
  EXPECT_TRUE(server_->cancelled);
}

TEST_F(ApiClients, ErrorsOfTheServerAreReturned) {
  const auto absent = testing::RunTask(api_.SendForObject({.path = "/api/v1/namespaces/x/configmaps/absent"}));
  ASSERT_FALSE(absent);
  EXPECT_TRUE(absent.error().Is(meta::Reason::kNotFound));
  EXPECT_EQ(absent.error().Message(), "configmaps \"absent\" not found");
  const auto refused = testing::RunTask(api_.ListItems({.path = "/api/v1/secrets"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Message(), "not yet");
}

TEST_F(ApiClients, AnAnswerThatIsNotJsonIsAnError) {
  const auto text = testing::RunTask(api_.SendForObject({.path = "/api/v1/namespaces/x/configmaps/text"}));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().Code(), 500);
  EXPECT_THAT(text.error().Message(), HasSubstr("was answered with 404"));
}

TEST_F(ApiClients, AListThatEndsEarlyIsUnavailable) {
  for (const char* path : {"/api/v1/nodes", "/api/v1/pods"}) {  // aborted after a piece; without a head
    const auto items = testing::RunTask(api_.ListItems({.path = path}));
    ASSERT_FALSE(items) << path;
    EXPECT_EQ(items.error().Code(), 503) << path;
  }
}

}  // namespace
}  // namespace apimesh::mesh
