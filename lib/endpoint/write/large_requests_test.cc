#include "lib/endpoint/write/large_requests.h"

#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kSmall = R"({"metadata":{"name":"small"},"data":{"k":"v"}})";
const std::string kLarge = R"({"metadata":{"name":"large"},"data":{"k":")" + std::string(100'000, 'x') + R"("}})";
const mesh::Headers kMerge = {{"content-type", "application/merge-patch+json"}, {"user-agent", "test/1"}};

/// A thread that counts the handlers it runs.
class LargeThread {
 public:
  LargeThread() : thread_([this] { handlers_ = io_.run(); }) {}
  boost::asio::any_io_executor Executor() { return io_.get_executor(); }
  std::size_t Finish() {
    work_.reset();
    thread_.join();
    return handlers_;
  }

 private:
  boost::asio::io_context io_{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_{io_.get_executor()};
  std::size_t handlers_ = 0;
  std::thread thread_;
};

struct Case {
  const char* name;
  bool stored_large;
  const char* method;
  std::string target, body;
  mesh::Headers headers;
  int code;
  bool moves;
};

TEST(LargeRequests, RunOnTheirOwnThread) {
  const mesh::Headers json = {{"content-type", "application/json"}};
  const std::string one = std::string(kMaps) + "/large", small = std::string(kMaps) + "/small";
  const Case cases[] = {
      {"a small create", false, "POST", kMaps, R"({"metadata":{"name":"a"}})", json, 201, false},
      {"a large create", false, "POST", kMaps, kLarge, json, 201, true},
      {"a large body that is no object", false, "POST", kMaps, std::string(100'000, '['), json, 400, true},
      {"a read of a large object", true, "GET", one, "", json, 200, false},
      {"a small patch of a small object", false, "PATCH", small, R"({"data":{"a":"b"}})", kMerge, 200, false},
      {"a small patch of a large object", true, "PATCH", one, R"({"data":{"a":"b"}})", kMerge, 200, true},
      {"a deletion of a large object", true, "DELETE", one, "", json, 200, true},
      {"a patch of what is not there", false, "PATCH", one, "{}", kMerge, 404, false},
  };
  for (const Case& one_case : cases) {
    LargeThread large;
    TestServer server(std::make_shared<const admission::Chain>(), large.Executor());
    ASSERT_EQ(server.Send("POST", kMaps, kSmall).code, 201);
    if (one_case.stored_large) {
      // Written without the large thread.
      TestServer plain;
      const Reply made = plain.Send("POST", kMaps, kLarge);
      ASSERT_EQ(made.code, 201);
      meta::Object object(made.Json().as_object());
      const storage::Key key{"default/large"};
      ASSERT_TRUE(testing::RunTask(
          server.config_map_store->Create(meta::RequestContext(), key, std::move(object), std::chrono::seconds(0))));
    }
    EXPECT_EQ(server.Send(one_case.method, one_case.target, one_case.body, one_case.headers).code, one_case.code)
        << one_case.name;
    EXPECT_EQ(large.Finish() > 0, one_case.moves) << one_case.name;
  }
}

TEST(LargeRequests, AreNotRunForNobody) {
  LargeThread large;
  TestServer server(std::make_shared<const admission::Chain>(), large.Executor());
  const mesh::Headers json = {{"content-type", "application/json"}};
  const auto gone = std::make_shared<std::atomic<bool>>(true);
  EXPECT_EQ(server.Send("POST", kMaps, kLarge, json, gone).code, 504);
  EXPECT_EQ(server.Send("GET", std::string(kMaps) + "/large").code, 404) << "nothing was written";
  large.Finish();
}

}  // namespace
}  // namespace apimesh::endpoint
