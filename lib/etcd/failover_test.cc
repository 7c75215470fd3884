// Failures that a client survives: etcd is killed and restarted, or a member of a cluster is lost.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/etcd/client.h"
#include "lib/testing/etcd_process.h"
#include "lib/testing/free_port.h"
#include "lib/testing/system_clock.h"

namespace apimesh::etcd {
namespace {

using apimesh::testing::EtcdProcess;
using std::chrono::seconds;

using testing::In;

CompareAndSwap Create(std::string key) { return {.key = std::move(key), .value = "v", .deadline = In(seconds(20))}; }

/// One writer that creates one key after another, and one watch over all of them.
class Load {
 public:
  explicit Load(Client* client)
      : watch_(client->OpenWatch({.key = "/k/", .range_end = PrefixEnd("/k/"), .start_revision = 1})) {
    const auto ended = [this](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
      if (--running_ == 0) context_.stop();  // an idle connection would keep the context running
    };
    boost::asio::co_spawn(context_, Write(this, client), ended);
    boost::asio::co_spawn(context_, Collect(this), ended);
    thread_ = std::thread([this] { context_.run(); });
  }

  /// Waits until `count` more writes are acknowledged.
  void AwaitWrites(std::size_t count) {
    const std::size_t goal = writes_ + count;
    ASSERT_TRUE(testing::Eventually([&] { return writes_ >= goal; }, seconds(60))) << writes_ << " writes so far";
  }

  /// Stops writing and checks that the watch delivered every acknowledged write once and in order.
  void EndAndCheck() {
    stop_ = true;
    thread_.join();
    std::map<std::string, Revision> seen;
    Revision last = 0;
    for (const WatchEvent& event : events_) {
      EXPECT_GT(event.kv.mod_revision, last);
      last = event.kv.mod_revision;
      EXPECT_TRUE(seen.emplace(event.kv.key, last).second) << "doubled: " << event.kv.key;
    }
    for (const auto& [key, revision] : acknowledged_) EXPECT_EQ(seen[key], revision) << "lost: " << key;
    EXPECT_LE(seen.size(), acknowledged_.size() + ambiguous_);
    EXPECT_GE(acknowledged_.size(), 50u);
  }

 private:
  static Task<> Write(Load* load, Client* client) {
    for (int i = 0; !load->stop_; ++i) {
      const std::string key = fmt::format("/k/{:06}", i);
      auto result = co_await client->Swap(Create(key));
      if (result && result->swapped) {
        load->acknowledged_.emplace_back(key, result->revision);
        ++load->writes_;
      } else {
        ++load->ambiguous_;
      }
    }
    for (bool ended = false; !ended;) {
      auto put = co_await client->Put("/k/end", "", 0, In(seconds(20)));
      ended = put.has_value();
    }
  }
  static Task<> Collect(Load* load) {
    for (;;) {
      auto batch = co_await load->watch_->Next();
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch) co_return;
      for (auto& event : batch->events) {
        if (event.kv.key == "/k/end") co_return;
        load->events_.push_back(std::move(event));
      }
    }
  }

  boost::asio::io_context context_{1};
  int running_ = 2;
  const std::unique_ptr<Watch> watch_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> writes_ = 0;
  // Used by the thread until it has ended, as all members below.
  std::vector<std::pair<std::string, Revision>> acknowledged_;
  std::size_t ambiguous_ = 0;
  std::vector<WatchEvent> events_;
  std::thread thread_;
};

class Failover : public ::testing::TestWithParam<std::string> {};

TEST_P(Failover, NoEventIsLostOrRepeatedAcrossARestart) {
  EtcdProcess::Options options;
  if (GetParam() == "Debian") {
    const auto binary = EtcdProcess::FindDebianBinary();
    if (!binary || *binary == EtcdProcess::FindBinary()) GTEST_SKIP() << "no second etcd installed";
    options.binary = *binary;
  }
  EtcdProcess etcd(options);
  const auto client = NewClient({.clock = testing::SystemClock(), .endpoints = {etcd.Endpoint()}});
  Load load(client.get());
  for (int i = 0; i < 3; ++i) {
    load.AwaitWrites(20);
    etcd.Kill();
    etcd.Start();
    etcd.WaitUntilReady();
  }
  load.AwaitWrites(20);
  load.EndAndCheck();
}
INSTANTIATE_TEST_SUITE_P(Versions, Failover, ::testing::Values("Newest", "Debian"),
                         [](const auto& info) { return info.param; });

TEST(Cluster, ClientFailsOverToTheRemainingMembers) {
  std::vector<std::string> peers;
  std::string cluster;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(fmt::format("http://127.0.0.1:{}", apimesh::testing::FreePort()));
    cluster += fmt::format("{}m{}={}", i == 0 ? "" : ",", i, peers.back());
  }
  std::vector<std::unique_ptr<EtcdProcess>> members;
  ClientOptions options{.clock = testing::SystemClock()};
  for (int i = 0; i < 3; ++i) {
    EtcdProcess::Options member;
    member.arguments = {fmt::format("--name=m{}", i), "--listen-peer-urls=" + peers[i],
                        "--initial-advertise-peer-urls=" + peers[i], "--initial-cluster=" + cluster};
    members.push_back(std::make_unique<EtcdProcess>(member));
    options.endpoints.push_back(members.back()->Endpoint());
  }
  const auto client = NewClient(options);
  Load load(client.get());
  load.AwaitWrites(30);
  members[0]->Kill();  // the current member, which is the first of the list
  load.AwaitWrites(30);
  members[0]->Start();
  members[0]->WaitUntilReady();
  members[1]->Kill();
  load.AwaitWrites(30);
  load.EndAndCheck();
}

}  // namespace
}  // namespace apimesh::etcd
