#include "services/launcher/shards/shards.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/testing/system_clock.h"
#include "lib/testing/temp_path.h"
#include "services/launcher/shards/unix_socket.h"

namespace apimesh::launcher::shards {
namespace {

TEST(Layout, IsReadAsItWasWritten) {
  const std::vector<ScaledGroup> layout = ReadLayout(WriteLayout({{"apps", "core-api", 2}, {"core", "core-api", 0}}));
  ASSERT_EQ(layout.size(), 2u);
  EXPECT_EQ(layout[0].group, "apps");
  EXPECT_EQ(layout[0].process, "core-api");
  EXPECT_EQ(layout[0].replicas, 2);
  EXPECT_EQ(layout[1].replicas, 0);
}

TEST(Layout, IsEmptyIfItCannotBeRead) {
  for (const char* text : {"", "{", "[]", R"({"groups": {}})", R"({"groups": [1, {"group": "apps"}]})",
                           R"({"groups": [{"group": 1, "process": "core-api", "replicas": 1}]})"})
    EXPECT_TRUE(ReadLayout(text).empty()) << text;
  EXPECT_EQ(ReadLayout(R"({"groups": [{"group": "a", "process": "core-api", "replicas": 9999}]})")[0].replicas,
            kMaxReplicas);
}

class ShardsTest : public ::testing::Test {
 protected:
  ~ShardsTest() override { std::filesystem::remove_all(folder_); }

  static std::string MakeFolder() {
    std::string path = testing::TempPath("shards");
    std::filesystem::create_directories(path);
    return path;
  }

  const std::string folder_ = MakeFolder();
  const Paths paths_{.binaries = "/nowhere", .sockets = folder_, .logs = folder_};
  Supervisor supervisor_{{}, testing::SystemClock()};
  const std::map<std::string, ChildSpec> common_{
      {"core-api", {.name = "core-api", .arguments = {"/bin/sleep", "--listen=unix:/a", "60"}}}};
  Shards shards_{supervisor_, common_, paths_, folder_ + "/groups.json", testing::SystemClock()};
};

TEST_F(ShardsTest, RefusesWhatCannotBeScaled) {
  EXPECT_NE(shards_.Scale("../apps", "core-api", 1), "");
  EXPECT_NE(shards_.Scale("", "core-api", 1), "");
  EXPECT_NE(shards_.Scale("apps", "store", 1), "");
  EXPECT_NE(shards_.Scale("apps", "core-api", -1), "");
  EXPECT_NE(shards_.Scale("apps", "core-api", kMaxReplicas + 1), "");
  EXPECT_FALSE(shards_.Busy());
}

TEST_F(ShardsTest, KeepsTheLayoutForTheNextRun) {
  EXPECT_EQ(shards_.Scale("apps", "core-api", 3), "");
  EXPECT_EQ(shards_.Scale("batch", "core-api", 1), "");
  EXPECT_EQ(shards_.Scale("batch", "core-api", 0), "");
  const Shards next(supervisor_, common_, paths_, folder_ + "/groups.json", testing::SystemClock());
  ASSERT_EQ(next.Layout().size(), 1u);
  EXPECT_EQ(next.Layout()[0].group, "apps");
  EXPECT_EQ(next.Layout()[0].replicas, 3);
  EXPECT_EQ(next.Layout()[0].ready, 0);
  EXPECT_TRUE(next.Busy());
}

TEST(PlanShard, ReplacesTheListener) {
  const ChildSpec common{
      .name = "core-api", .arguments = {"core-api", "--listen=unix:/a", "--v=1"}, .may_refuse = true};
  const ChildSpec shard = PlanShard(common, {.logs = "/logs"}, "core-api-apps-1", "apps", "unix:/b", "unix:/c");
  EXPECT_EQ(shard.arguments, (std::vector<std::string>{"core-api", "--v=1", "--listen=unix:/b",
                                                       "--health-address=unix:/c", "--shard", "--api-groups=apps"}));
  EXPECT_EQ(shard.log_file, "/logs/core-api-apps-1.log");
  EXPECT_FALSE(shard.may_refuse);
}

TEST(ControlSocket, AnswersLines) {
  const ControlSocket socket(testing::TempPath("control.sock"));
  struct stat info{};
  ASSERT_EQ(::stat(socket.Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  std::thread server([&socket] { socket.Serve([](const std::string& line) { return "<" + line + ">"; }); });
  EXPECT_EQ(Exchange(socket.Path(), "hello\n"), "<hello>\n");
  server.join();
  EXPECT_EQ(Exchange(socket.Path() + ".missing", "hello\n"), "");
}

}  // namespace
}  // namespace apimesh::launcher::shards
