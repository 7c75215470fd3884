#include "services/aggregator/edge/reply.h"

#include <gtest/gtest.h>

#include "lib/base/test_memory.h"
#include "lib/testing/run.h"

namespace apimesh::aggregator {
namespace {

/// Records the body of a response.
class Recorder final : public http::ResponseWriter {
 public:
  Task<bool> Send(int, http::Headers, std::vector<SharedBytes> body) override {
    for (const SharedBytes& piece : body) text += piece.View();
    co_return true;
  }
  Task<bool> Start(int, http::Headers, bool) override { co_return true; }
  Task<bool> Write(std::vector<SharedBytes>) override { co_return true; }
  Task<bool> Finish() override { co_return true; }
  bool HeadSent() const override { return !text.empty(); }
  void Abort() override { aborted = true; }
  Task<std::unique_ptr<http::RawConnection>> Upgrade(http::Headers) override { co_return nullptr; }
  void OnDisconnect(std::function<void()>) override {}

  std::string text;
  bool aborted = false;
};

TEST(Reply, ABodyThatIsKeptForTheAuditLogOutlivesTheMemoryThatItWasIn) {
  std::string shared = "shared";
  const auto memory = std::make_shared<TestMemory>();
  Recorder writer;
  Reply reply(writer);
  reply.KeepBody(Reply::Keep::kAll);
  std::vector<SharedBytes> body(1, SharedBytes::InRevocableMemory(memory, shared));
  EXPECT_TRUE(testing::RunTask(reply.Send(200, {}, std::move(body))));
  EXPECT_EQ(writer.text, "shared");
  memory->valid = false;
  shared = "------";
  ASSERT_EQ(reply.Body().size(), 1);
  EXPECT_EQ(reply.Body()[0].View(), "shared");
}

TEST(Reply, ABodyThatWasRevokedIsNeitherKeptNorSent) {
  const auto memory = std::make_shared<TestMemory>();
  memory->valid = false;
  Recorder writer;
  Reply reply(writer);
  reply.KeepBody(Reply::Keep::kAll);
  std::vector<SharedBytes> body(1, SharedBytes::InRevocableMemory(memory, "shared"));
  EXPECT_FALSE(testing::RunTask(reply.Send(200, {}, std::move(body))));
  EXPECT_EQ(writer.text, "");
  EXPECT_TRUE(writer.aborted);
  EXPECT_TRUE(reply.Body().empty());
}

}  // namespace
}  // namespace apimesh::aggregator
