#include "services/store/maintenance/auto_compaction.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/system_clock.h"

namespace apimesh::store {
namespace {

/// A store without a server. Writes are durable immediately.
class AutoCompactionTest : public ::testing::Test {
 protected:
  AutoCompactionTest()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("compaction" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    journal_ = std::make_unique<Journal>(loop_, Journal::Options{.folder = folder_, .sync = false});
    store_ = std::make_unique<Store>(*journal_, lessor_);
    store_->Recover();
    journal_->Start({.durable = [this](std::uint64_t sequence) { store_->OnDurable(sequence); },
                     .base_grew = [](Revision) {},
                     .synced = [](std::chrono::nanoseconds) {}});
  }
  ~AutoCompactionTest() override {
    journal_->Stop();
    store_.reset();
    journal_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Write(int times) {
    for (int i = 0; i < times; ++i) {
      store_->Begin();
      store_->Put("k", "v", 0);
      store_->End();
    }
    journal_->EndOfTurn();
  }

  std::filesystem::path folder_;
  apimesh::testing::ManualClock clock_;
  EventLoop loop_{apimesh::testing::SystemClock()};
  Lessor lessor_{clock_};
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Store> store_;
};

TEST_F(AutoCompactionTest, KeepsTheLastRevisions) {
  Options options;
  options.auto_compaction = AutoCompaction::kRevision;
  options.auto_compaction_revisions = 10;
  AutoCompactor compactor(loop_, *store_, clock_, options);
  Write(5);
  compactor.Check();
  EXPECT_EQ(store_->Compacted(), 0);  // there are fewer revisions
  Write(20);
  compactor.Check();
  EXPECT_EQ(store_->Compacted(), store_->Durable() - 10);
  compactor.Check();  // nothing has changed
  EXPECT_EQ(store_->Compacted(), store_->Durable() - 10);
  Write(3);
  compactor.Check();
  EXPECT_EQ(store_->Compacted(), store_->Durable() - 10);
}

TEST_F(AutoCompactionTest, KeepsTheLastPeriod) {
  Options options;
  options.auto_compaction = AutoCompaction::kPeriodic;
  options.auto_compaction_period = std::chrono::minutes(10);
  AutoCompactor compactor(loop_, *store_, clock_, options);
  const auto pass = [&](int minutes) {
    for (int i = 0; i < minutes; ++i) {
      clock_.Advance(std::chrono::minutes(1));
      compactor.Check();
    }
  };
  Write(5);
  pass(1);
  const Revision early = store_->Durable();
  Write(5);
  pass(9);
  EXPECT_EQ(store_->Compacted(), 0);  // nothing is older than ten minutes
  pass(1);
  EXPECT_EQ(store_->Compacted(), early);
  pass(1);
  EXPECT_EQ(store_->Compacted(), store_->Durable());
}

}  // namespace
}  // namespace apimesh::store
