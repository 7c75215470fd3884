#include "lib/service/sharding/shard.h"

#include <gtest/gtest.h>

namespace apimesh::service {
namespace {

/// A server that can change its description.
class Described final : public mesh::DelegateHandler {
 public:
  Task<mesh::Response> Call(mesh::Request&&) override { co_return mesh::Response(); }
  Task<> Stream(mesh::Request, mesh::ResponseStream&) override { co_return; }
  Task<> Connect(mesh::Request, std::unique_ptr<mesh::ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    changed_ = std::move(changed);
    changed_(description_);
    return {nullptr, [this](void*) { changed_ = nullptr; }};
  }
  void Set(const std::vector<std::string>& groups) {
    description_.group_versions.clear();
    for (const std::string& group : groups) {
      mesh::GroupVersionDescription version;
      version.group = group;
      description_.group_versions.push_back(std::make_shared<const mesh::GroupVersionDescription>(version));
    }
    if (changed_) changed_(description_);
  }
  bool IsFollowed() const { return changed_ != nullptr; }

 private:
  mesh::Description description_;
  std::function<void(mesh::Description)> changed_;
};

class ShardTest : public ::testing::Test {
 protected:
  std::shared_ptr<void> Follow() {
    return shard_.Describe([this](const mesh::Description& description) {
      std::string groups;
      for (const auto& version : description.group_versions) groups += "[" + version->group + "]";
      seen_.push_back(groups);
    });
  }
  const std::shared_ptr<Described> server_ = std::make_shared<Described>();
  Shard shard_{server_, {"core", "apps"}};
  std::vector<std::string> seen_;
};

using Seen = std::vector<std::string>;

TEST_F(ShardTest, DescribesItsGroupsFromTheAnnouncementToTheWithdrawal) {
  server_->Set({"", "batch"});
  auto handle = Follow();
  EXPECT_EQ(seen_, Seen{});
  server_->Set({"", "apps", "batch"});
  shard_.Announce();
  EXPECT_EQ(seen_, (Seen{"[][apps]"}));
  server_->Set({"apps"});
  EXPECT_EQ(seen_, (Seen{"[][apps]", "[apps]"}));
  EXPECT_TRUE(shard_.Withdraw());
  EXPECT_EQ(seen_, (Seen{"[][apps]", "[apps]", ""}));
  server_->Set({"", "apps"});
  EXPECT_EQ(seen_.size(), 3u);
  handle.reset();
  EXPECT_FALSE(server_->IsFollowed());
}

TEST_F(ShardTest, LaterListenersLearnTheState) {
  server_->Set({"apps"});
  EXPECT_FALSE(Shard(server_, {"apps"}).Withdraw());  // its groups were not announced
  shard_.Announce();
  const auto first = Follow();
  EXPECT_EQ(seen_, (Seen{"[apps]"}));
  shard_.Withdraw();
  seen_.clear();
  const auto second = Follow();
  EXPECT_EQ(seen_, (Seen{""}));
}

}  // namespace
}  // namespace apimesh::service
