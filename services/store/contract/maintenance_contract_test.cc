#include <atomic>

#include <openssl/sha.h>

#include "services/store/contract/contract.h"

namespace apimesh::store::contract {
namespace {

class MaintenanceContract : public Contract {
 protected:
  StatusResponse Status() { return Ask(*server_->maintenance, &Maintenance::Stub::Status, StatusRequest()); }
  std::uint32_t Hash() { return Ask(*server_->maintenance, &Maintenance::Stub::Hash, HashRequest()).hash(); }
  AlarmResponse Alarm(AlarmRequest::AlarmAction action) {
    AlarmRequest request;
    request.set_action(action);
    request.set_alarm(NOSPACE);
    if (action != AlarmRequest::GET) request.set_memberid(Status().leader());
    return Ask(*server_->maintenance, &Maintenance::Stub::Alarm, request);
  }
};

TEST_P(MaintenanceContract, StatusReportsTheMemberAsLeader) {
  Put("k", "v");
  const StatusResponse status = Status();
  EXPECT_NE(status.leader(), 0u);
  EXPECT_EQ(status.leader(), status.header().member_id());
  EXPECT_GT(status.dbsize(), 0);
  EXPECT_GT(status.dbsizeinuse(), 0);
  EXPECT_GE(status.raftindex(), status.raftappliedindex());
  EXPECT_GT(status.raftappliedindex(), 0u);
  EXPECT_EQ(status.errors_size(), 0);
  EXPECT_FALSE(status.islearner());
}

TEST_P(MaintenanceContract, HashDependsOnlyOnTheContents) {
  Put("k", "v");
  const std::uint32_t before = Hash();
  EXPECT_EQ(Hash(), before);
  Put("k", "w");
  EXPECT_NE(Hash(), before);
}

TEST_P(MaintenanceContract, AnAlarmStopsPutsAndNothingElse) {
  Put("k", "v");
  EXPECT_EQ(Alarm(AlarmRequest::GET).alarms_size(), 0);
  const AlarmResponse raised = Alarm(AlarmRequest::ACTIVATE);
  ASSERT_EQ(raised.alarms_size(), 1);
  EXPECT_EQ(raised.alarms(0).alarm(), NOSPACE);
  EXPECT_EQ(raised.alarms(0).memberid(), Status().leader());
  EXPECT_EQ(Status().errors_size(), 1);
  Put("k", "w", 0, "etcdserver: mvcc: database space exceeded");
  EXPECT_EQ(Get("k").kvs(0).value(), "v");
  EXPECT_EQ(Delete("k").deleted(), 1);
  Compact(Revision());
  EXPECT_EQ(Alarm(AlarmRequest::DEACTIVATE).alarms_size(), 1);
  EXPECT_EQ(Alarm(AlarmRequest::GET).alarms_size(), 0);
  Put("k", "x");
}

TEST_P(MaintenanceContract, ASnapshotIsADatabaseAndItsChecksum) {
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i), std::string(2000, 'v'));
  ::grpc::ClientContext context;
  const auto stream = server_->maintenance->Snapshot(&context, {});
  std::string blob;
  SnapshotResponse part;
  std::uint64_t left = UINT64_MAX;
  while (stream->Read(&part)) {
    EXPECT_LE(part.remaining_bytes(), left);
    left = part.remaining_bytes();
    blob += part.blob();
    EXPECT_EQ(part.version(), "3.6.0");
  }
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(left, 0u);
  ASSERT_EQ(blob.size() % 512, 32u);
  const std::string_view database(blob.data(), blob.size() - 32);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(database.data()), database.size(), digest);
  EXPECT_EQ(blob.substr(database.size()), std::string(reinterpret_cast<char*>(digest), sizeof digest));
}

TEST_P(MaintenanceContract, CompactionGivesSpaceBackAndDefragmentationTheFile) {
  for (int i = 0; i < 300; ++i) Put("k", std::string(20'000, 'v'));
  // etcd updates this figure with a commit, which happens some time after a write.
  const auto in_use = [&] {
    Put("other", "v");
    return Status().dbsizeinuse();
  };
  ASSERT_TRUE(Eventually([&] { return in_use() > 5'000'000; }));
  const std::int64_t file = Status().dbsize();
  Compact(Revision());
  EXPECT_TRUE(Eventually([&] { return in_use() < 1'000'000; })) << in_use();
  Ask(*server_->maintenance, &Maintenance::Stub::Defragment, DefragmentRequest());
  EXPECT_TRUE(Eventually([&] { return Status().dbsize() < file / 3; })) << Status().dbsize() << " of " << file;
  EXPECT_EQ(Get("k").kvs(0).version(), 300);
}

TEST_P(MaintenanceContract, CompactionDoesNotBlockRequests) {
  for (int i = 0; i < 400; ++i) {
    TxnRequest txn;
    for (int key = 0; key < 100; ++key) {
      PutRequest* put = txn.add_success()->mutable_request_put();
      put->set_key("k" + std::to_string(key));
      put->set_value(std::string(200, 'v'));
    }
    Ask(*server_->kv, &KV::Stub::Txn, txn);
  }
  std::atomic<bool> done = false;
  std::thread compacting([&] {
    Compact(Revision());
    done = true;
  });
  int answered = 0;
  for (; !done; ++answered) {
    Get("k1");
    Put("k2", "w");
  }
  compacting.join();
  EXPECT_GE(answered, 5);
}

INSTANTIATE_TEST_SUITE_P(Both, MaintenanceContract, ::testing::Values(Kind::kStore, Kind::kEtcd), &KindName);

// Equal histories have equal hashes at every revision, before and after a compaction.
TEST(HashKvContract, EqualsEtcdsHash) {
  Endpoint ours(Kind::kStore, {}), theirs(Kind::kEtcd, {});
  ASSERT_TRUE(ours.WaitUntilReady() && theirs.WaitUntilReady());
  const auto status = Ask(*theirs.maintenance, &Maintenance::Stub::Status, StatusRequest());
  if (!status.version().starts_with("3.6.")) GTEST_SKIP() << "the store does as etcd 3.6; this is " << status.version();
  std::int64_t newest = 0;
  for (Endpoint* server : {&ours, &theirs}) {
    for (int i = 0; i < 30; ++i) {
      if (i % 7 == 6) {
        DeleteRangeRequest erase;
        erase.set_key("k" + std::to_string(i % 3));
        Ask(*server->kv, &KV::Stub::DeleteRange, erase);
        continue;
      }
      TxnRequest txn;
      for (int j = 0; j <= i % 3; ++j) {
        PutRequest* put = txn.add_success()->mutable_request_put();
        put->set_key("k" + std::to_string(j));
        put->set_value(std::to_string(i));
      }
      newest = Ask(*server->kv, &KV::Stub::Txn, txn).header().revision();
    }
  }
  const auto compare = [&](std::int64_t revision, const char* error = "") {
    HashKVRequest request;
    request.set_revision(revision);
    const auto mine = Ask(*ours.maintenance, &Maintenance::Stub::HashKV, request, error);
    const auto real = Ask(*theirs.maintenance, &Maintenance::Stub::HashKV, request, error);
    EXPECT_EQ(mine.hash(), real.hash()) << "revision " << revision;
    EXPECT_EQ(mine.compact_revision(), real.compact_revision());
    EXPECT_EQ(mine.hash_revision(), real.hash_revision());
    EXPECT_EQ(mine.header().revision(), real.header().revision());
  };
  for (std::int64_t revision = 0; revision <= newest; ++revision) compare(revision);
  compare(newest + 10, "etcdserver: mvcc: required revision is a future revision");
  for (const std::int64_t compacted : {newest / 2, newest}) {
    CompactionRequest request;
    request.set_revision(compacted);
    request.set_physical(true);
    for (Endpoint* server : {&ours, &theirs}) Ask(*server->kv, &KV::Stub::Compact, request);
    compare(0);
    // For the compacted revision itself, etcd remembers the hash from before the compaction for other members; our
    // store does not.
    for (std::int64_t revision = compacted + 1; revision <= newest; ++revision) compare(revision);
    compare(compacted - 1, "etcdserver: mvcc: required revision has been compacted");
  }
}

}  // namespace
}  // namespace apimesh::store::contract
