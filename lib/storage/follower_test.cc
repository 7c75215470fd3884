#include "lib/storage/follower.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/fake_store.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FollowerTest : public ::testing::Test {
 protected:
  void Start() {
    const auto opened = [this] { seen_.emplace_back("opened"); };
    const auto events = [this](std::vector<Event> some) { return Take(std::move(some)); };
    const auto ended = [this](std::exception_ptr) { ended_ = true; };
    boost::asio::co_spawn(io_, Follower::Run(follower_, {opened, events}), ended);
    io_.poll();
  }
  Task<> Take(std::vector<Event> events) {
    for (const Event& event : events) {
      if (event.object) seen_.push_back(event.object->GetKey().text);
      if (event.initial_events_end) seen_.emplace_back("complete");
    }
    co_return;
  }
  void Put(const std::string& name) {
    store_->Put(Key{"ns/" + name}, meta::Object(boost::json::parse(WidgetJson("ns", name, "red")).as_object()));
  }
  std::vector<std::string> Seen() {
    io_.restart();
    io_.poll();
    return std::exchange(seen_, {});
  }

  boost::asio::io_context io_;
  std::shared_ptr<testing::FakeStore> store_ = std::make_shared<testing::FakeStore>(WidgetConfig());
  std::shared_ptr<Follower> follower_ = std::make_shared<Follower>("widgets", store_);
  std::vector<std::string> seen_;
  bool ended_ = false;
};

TEST_F(FollowerTest, DeliversTheCurrentStateAndThenChanges) {
  Put("a");
  Start();
  EXPECT_THAT(Seen(), ElementsAre("opened", "ns/a", "complete"));
  Put("b");
  EXPECT_THAT(Seen(), ElementsAre("ns/b"));
}

TEST_F(FollowerTest, StopEndsTheCoroutine) {
  Start();
  EXPECT_THAT(Seen(), ElementsAre("opened", "complete"));
  EXPECT_FALSE(ended_);
  follower_->Stop();
  Put("a");
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_TRUE(ended_);
}

TEST_F(FollowerTest, StopBeforeTheStartOpensNothing) {
  follower_->Stop();
  Start();
  EXPECT_THAT(Seen(), IsEmpty());
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace apimesh::storage
