#include "services/aggregator/apiservices/openapi_copy.h"

#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "services/aggregator/apiservices/download_schedule.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kV3 = "/openapi/v3/apis/sea.example.com/v1";
constexpr const char* kIndex =
    R"({"paths":{"apis/sea.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/sea.example.com/v1?hash=H1"}}})";

/// A server whose responses a test sets by path.
struct Server {
  std::map<std::string, http::ClientResponse> answers;
  std::vector<OpenApiCopy::Question> questions;

  Task<http::ClientResult<http::ClientResponse>> Ask(OpenApiCopy::Question question) {
    questions.push_back(question);
    const auto found = answers.find(question.path);
    if (found == answers.end()) co_return http::ClientError{http::ClientError::Code::kConnect, "connection refused"};
    co_return found->second;
  }
};

std::string Refresh(OpenApiCopy& copy, Server& server) {
  boost::asio::io_context io;
  std::string failure = "not finished";
  OpenApiCopy::AskFn ask = [&server](OpenApiCopy::Question question) { return server.Ask(std::move(question)); };
  boost::asio::co_spawn(io, copy.Refresh(ask, io.get_executor()),
                        [&failure](std::exception_ptr, std::string result) { failure = std::move(result); });
  io.run();
  return failure;
}

mesh::Response Get(const OpenApiCopy& copy, std::string path, mesh::Headers headers = {}) {
  mesh::Request request;
  request.path = std::move(path);
  request.headers = std::move(headers);
  return copy.Answer(request).value_or(mesh::Response{.code = 0});
}

TEST(OpenApiCopy, KeepsTheLastGoodDocuments) {
  OpenApiCopy copy("sea.example.com", "v1");
  Server server;
  EXPECT_EQ(Get(copy, "/openapi/v2").code, 404);
  EXPECT_THAT(Refresh(copy, server), HasSubstr("connection refused"));
  EXPECT_EQ(Get(copy, kV3).code, 404);
  EXPECT_EQ(copy.Version(), 0U);

  server.answers["/openapi/v2"] = {
      200,
      {{"etag", "\"E\""}},
      R"({"swagger":"2.0","paths":{"/apis/sea.example.com/v1/fishes":{"get":{"$ref":"#/definitions/Fish"}},"/version":{}},)"
      R"("definitions":{"Fish":{"type":"object"},"Info":{}}})"};
  server.answers["/openapi/v3"] = {200, {}, kIndex};
  server.answers[kV3] = {200, {{"content-type", "application/json"}}, R"({"openapi":"3.0.0"})"};
  EXPECT_EQ(Refresh(copy, server), "");
  EXPECT_THAT(Get(copy, "/openapi/v2").Text(), HasSubstr("Fish"));
  EXPECT_THAT(Get(copy, "/openapi/v2").Text(), Not(HasSubstr("Info")));
  EXPECT_EQ(Get(copy, kV3).Text(), R"({"openapi":"3.0.0"})");
  EXPECT_EQ(copy.Hash(), "H1");
  const std::uint64_t version = copy.Version();
  EXPECT_GT(version, 0U);

  // A document that is not one, and a server that is gone, change nothing.
  server.answers["/openapi/v2"].body = "<html>";
  server.answers["/openapi/v3"] = {500, {}, ""};
  EXPECT_THAT(Refresh(copy, server), HasSubstr("not an OpenAPI document; /openapi/v3: code 500"));
  server.answers.clear();
  Refresh(copy, server);
  EXPECT_THAT(Get(copy, "/openapi/v2").Text(), HasSubstr("Fish"));
  EXPECT_EQ(Get(copy, kV3).Text(), R"({"openapi":"3.0.0"})");
  EXPECT_EQ(copy.Version(), version);
}

TEST(OpenApiCopy, RequestsOnlyWhatHasChanged) {
  OpenApiCopy copy("sea.example.com", "v1");
  Server server;
  server.answers["/openapi/v2"] = {200, {{"etag", "\"E\""}}, R"({"paths":{}})"};
  server.answers["/openapi/v3"] = {200, {}, kIndex};
  server.answers[kV3] = {200, {{"content-type", "application/json"}}, "{}"};
  EXPECT_EQ(Refresh(copy, server), "");
  EXPECT_EQ(server.questions.size(), 4U) << "v3 is requested as JSON and as protobuf";
  const std::uint64_t version = copy.Version();
  server.questions.clear();
  server.answers["/openapi/v2"] = {304, {}, ""};
  EXPECT_EQ(Refresh(copy, server), "");
  ASSERT_EQ(server.questions.size(), 2U);
  EXPECT_EQ(server.questions[0].etag, "\"E\"");
  EXPECT_EQ(copy.Version(), version);
}

TEST(OpenApiCopy, AnswersConditionalRequests) {
  OpenApiCopy copy("sea.example.com", "v1");
  Server server;
  server.answers["/openapi/v2"] = {404, {}, ""};
  server.answers["/openapi/v3"] = {200, {}, R"({"paths":{"apis/sea.example.com/v1":{}}})"};  // without a hash
  server.answers[kV3] = {200, {{"content-type", "application/x+protobuf"}}, "{}"};
  EXPECT_EQ(Refresh(copy, server), "");
  EXPECT_NE(copy.Hash(), "");
  EXPECT_EQ(Get(copy, kV3, {{"if-none-match", '"' + copy.Hash() + '"'}}).code, 304);
  const mesh::Response binary =
      Get(copy, kV3, {{"accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"}});
  EXPECT_EQ(std::string(binary.headers.back().second), "application/com.github.proto-openapi.spec.v3.v1.0+protobuf");
  EXPECT_EQ(Get(copy, "/apis/sea.example.com/v1").code, 0) << "the server answers it";
}

TEST(DownloadSchedule, WaitsLongerAfterFailures) {
  DownloadSchedule schedule;
  SteadyTime now{std::chrono::hours(1)};
  EXPECT_TRUE(schedule.Due(now));
  schedule.Begin();
  EXPECT_FALSE(schedule.Due(now));
  const auto pause_after = [&](bool succeeded) {
    schedule.Finish(succeeded, now);
    int minutes = 0;
    while (!schedule.Due(now)) {
      now += std::chrono::minutes(1);
      ++minutes;
    }
    return minutes;
  };
  EXPECT_EQ(pause_after(true), 1);
  for (const int minutes : {1, 2, 4, 8, 16, 32, 60, 60}) EXPECT_EQ(pause_after(false), minutes);
  EXPECT_EQ(pause_after(true), 1);
  schedule.Finish(false, now);
  schedule.Restart();
  EXPECT_TRUE(schedule.Due(now));
}

}  // namespace
}  // namespace apimesh::aggregator
