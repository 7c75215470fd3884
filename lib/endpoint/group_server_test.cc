#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"
#include "lib/mesh/in_process.h"

namespace apimesh::endpoint {
namespace {

GroupServerOptions Options() {
  static testing::ManualClock clock;
  GroupServerOptions options;
  options.environment.sources.clock = &clock;
  options.environment.meta_schema = &schema::Builtin();
  return options;
}

/// A server of apps/v1 without resources, and behind it a server that answers every path of groups.
class NextServer : public ::testing::Test {
 protected:
  void Start(bool owns_groups) {
    GroupServerOptions of_next = Options();
    const PathHandler answer = [](mesh::Request request) -> Task<mesh::Response> {
      co_return mesh::Response::Json(200, "next " + request.path);
    };
    of_next.paths["/apis/"] = answer;
    GroupServerOptions options = Options();
    options.next = mesh::InProcess(std::make_shared<GroupServer>(std::move(of_next)));
    options.owns_groups = owns_groups;
    server_ = std::make_unique<GroupServer>(std::move(options));
    server_->Replace({{{"apps", "v1"}, 1, 1, {}, ""}});
  }
  int Call(const std::string& path) {
    mesh::Request request;
    request.method = "GET";
    request.path = path;
    request.info = meta::ParseRequestInfo("GET", path, "");
    mesh::CollectedResponse stream;
    mesh::Request copy = request;
    testing::RunTask(server_->Stream(std::move(copy), stream));
    const int streamed = stream.Take().code;
    const int called = testing::RunTask(server_->Call(std::move(request))).code;
    EXPECT_EQ(called, streamed) << path;
    return called;
  }
  std::unique_ptr<GroupServer> server_;
};

TEST_F(NextServer, AnswersWhatThisServerDoesNotKnow) {
  Start(false);
  EXPECT_EQ(Call("/apis/other/v1/foos"), 200);
  EXPECT_EQ(Call("/apis/apps/v7/foos"), 200);
  EXPECT_EQ(Call("/apis/apps/v1/foos"), 404);
}

TEST_F(NextServer, DoesNotAnswerForGroupsOfThisServer) {
  Start(true);
  EXPECT_EQ(Call("/apis/other/v1/foos"), 200);
  EXPECT_EQ(Call("/apis/apps.example.com/v1/foos"), 200);
  for (const char* path : {"/apis/apps/v7/foos", "/apis/apps/v7/namespaces/n/foos/x", "/apis/apps/v7", "/apis/apps/x"})
    EXPECT_EQ(Call(path), 404) << path;
}

TEST(GroupServer, IsDescribedOnceItKnowsWhatItServes) {
  // An empty description would say that everything it served before a restart is gone.
  GroupServer server(Options());
  std::vector<std::size_t> described;
  const auto count = [&described](const mesh::Description& one) { described.push_back(one.group_versions.size()); };
  const std::shared_ptr<void> early = server.Describe(count);
  EXPECT_TRUE(described.empty());
  server.Replace({{{"apps", "v1"}, 1, 1, {}, ""}});
  EXPECT_EQ(described, (std::vector<std::size_t>{1}));
  const std::shared_ptr<void> late = server.Describe(count);
  EXPECT_EQ(described, (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace apimesh::endpoint
