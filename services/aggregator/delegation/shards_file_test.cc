#include "services/aggregator/delegation/shards_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "lib/testing/temp_path.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

TEST(ParseShards, ReadsAll) {
  const auto entries =
      ParseShards(R"({"shards": [{"name": "apps", "process": "core-api", "address": "unix:/a,unix:/b"},)"
                  R"( {"name": "example.com", "process": "extensions-api", "address": "widgets:7443"}]})");
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ(entries->at(0).address, "unix:/a,unix:/b");
  EXPECT_EQ(entries->at(1).process, "extensions-api");
}

TEST(ParseShards, RefusesWhatIsNotComplete) {
  for (
      const char* text :
      {"", "[]", "{", R"({"shards": {}})", R"({"shards": [1]})",
       R"({"shards": [{"name": "a", "process": "core-api"}]})",
       R"({"shards": [{"name": "a", "process": "store", "address": "b"}]})",
       R"({"shards": [{"name": 1, "process": "core-api", "address": "b"}]})",
       R"({"shards": [{"name": "a", "process": "core-api", "address": "b"}, {"name": "a", "process": "core-api", "address": "c"}]})"})
    EXPECT_FALSE(ParseShards(text).has_value()) << text;
}

class ShardsFileTest : public ::testing::Test {
 protected:
  ~ShardsFileTest() override { routes_->Stop(); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Delegate& delegate : routes_->Current()->delegates) names.push_back(delegate.name);
    return names;
  }

  const std::string path_ = testing::TempPath("shards.json");
  const std::shared_ptr<RouteTable> routes_ = std::make_shared<RouteTable>();
  int connections_ = 0;
  ShardsFile file_{path_, routes_, [this](const ShardEntry&) {
                     ++connections_;
                     return std::make_shared<FakeDelegate>("shard");
                   }};
};

TEST_F(ShardsFileTest, FollowsTheFileAndKeepsConnections) {
  file_.Look();  // there is no file
  EXPECT_EQ(Names().size(), 0u);
  Write(R"({"shards": [{"name": "apps", "process": "core-api", "address": "unix:/a"}]})");
  file_.Look();
  EXPECT_EQ(Names(), std::vector<std::string>{"core-api-apps"});
  Write(R"({"shards": [{"name": "apps", "process": "core-api", "address": "unix:/a"}, )"
        R"({"name": "batch", "process": "core-api", "address": "unix:/b"}]})");
  file_.Look();
  EXPECT_EQ(Names(), (std::vector<std::string>{"core-api-apps", "core-api-batch"}));
  EXPECT_EQ(connections_, 2);
  Write("{ not complete");
  file_.Look();
  EXPECT_EQ(Names().size(), 2u);
  Write(R"({"shards": []})");
  file_.Look();
  EXPECT_EQ(Names().size(), 0u);
}

}  // namespace
}  // namespace apimesh::aggregator
