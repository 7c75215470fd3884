#include "services/store/server.h"

#include <thread>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/system_clock.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

/// A server in this process and a stub for each service. The client is the real gRPC library.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : folder_(std::filesystem::path(::testing::TempDir()) / ("server" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    Start();
  }
  ~ServerTest() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    Options options;
    options.data_dir = folder_;
    options.listen_client_urls = {"http://127.0.0.1:0"};
    options.quota_backend_bytes = quota_;
    server_ = std::make_unique<Server>(options, clock_);
    server_->Start();
    thread_ = std::thread([this] { server_->Run(); });
    channel_ =
        ::grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->Ports()[0]), ::grpc::InsecureChannelCredentials());
    kv_ = KV::NewStub(channel_);
    watch_ = Watch::NewStub(channel_);
    lease_ = Lease::NewStub(channel_);
    maintenance_ = Maintenance::NewStub(channel_);
  }
  void Stop() {
    kv_.reset(), watch_.reset(), lease_.reset(), maintenance_.reset(), channel_.reset();
    server_->Stop();
    thread_.join();
    server_.reset();
  }

  PutResponse Put(const std::string& key, const std::string& value, std::int64_t lease = 0) {
    PutRequest request;
    request.set_key(key);
    request.set_value(value);
    request.set_lease(lease);
    ::grpc::ClientContext context;
    PutResponse response;
    status_ = kv_->Put(&context, request, &response);
    return response;
  }
  RangeResponse Get(const std::string& key, const std::string& end = "", std::int64_t revision = 0,
                    std::int64_t limit = 0) {
    RangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    request.set_revision(revision);
    request.set_limit(limit);
    ::grpc::ClientContext context;
    RangeResponse response;
    status_ = kv_->Range(&context, request, &response);
    return response;
  }
  std::int64_t Delete(const std::string& key, const std::string& end = "") {
    DeleteRangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    ::grpc::ClientContext context;
    DeleteRangeResponse response;
    status_ = kv_->DeleteRange(&context, request, &response);
    return response.deleted();
  }
  void Compact(std::int64_t revision) {
    CompactionRequest request;
    request.set_revision(revision);
    request.set_physical(true);
    ::grpc::ClientContext context;
    CompactionResponse response;
    status_ = kv_->Compact(&context, request, &response);
  }

  std::filesystem::path folder_;
  apimesh::testing::ShiftedClock clock_;
  std::int64_t quota_ = 0;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::shared_ptr<::grpc::Channel> channel_;
  std::unique_ptr<KV::Stub> kv_;
  std::unique_ptr<Watch::Stub> watch_;
  std::unique_ptr<Lease::Stub> lease_;
  std::unique_ptr<Maintenance::Stub> maintenance_;
  ::grpc::Status status_;
};

TEST_F(ServerTest, KeepsRevisionsAcrossARestart) {
  EXPECT_EQ(Put("a", "1").header().revision(), 2);
  EXPECT_EQ(Put("a", "2").header().revision(), 3);
  EXPECT_EQ(Delete("a"), 1);
  Stop();
  Start();
  EXPECT_EQ(Get("a").kvs_size(), 0);
  EXPECT_EQ(Get("a", "", 3).kvs(0).value(), "2");
  EXPECT_EQ(Get("a", "", 2).kvs(0).value(), "1");
  EXPECT_EQ(Put("a", "3").header().revision(), 5);
}

TEST_F(ServerTest, PagesAndCounts) {
  for (int i = 0; i < 10; ++i) Put("k" + std::to_string(i), "v");
  const RangeResponse page = Get("k2", "l", 0, 3);
  EXPECT_EQ(page.kvs_size(), 3);
  EXPECT_TRUE(page.more());
  EXPECT_EQ(page.count(), 8);
  EXPECT_FALSE(Get("k7", "l", 0, 3).more());
}

TEST_F(ServerTest, AnswersWithEtcdsErrors) {
  Put("", "x");
  EXPECT_EQ(status_.error_message(), "etcdserver: key is not provided");
  Put("a", "1");
  Put("a", "2");
  Compact(3);
  Get("a", "", 2);
  EXPECT_EQ(status_.error_code(), ::grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(status_.error_message(), "etcdserver: mvcc: required revision has been compacted");
  Get("a", "", 100);
  EXPECT_EQ(status_.error_message(), "etcdserver: mvcc: required revision is a future revision");
  Put("a", std::string(1536 * 1024, 'x'));
  EXPECT_EQ(status_.error_message(), "etcdserver: request is too large");
  Put("a", "1", 12345);
  EXPECT_EQ(status_.error_message(), "etcdserver: requested lease not found");
}

TEST_F(ServerTest, RunsTransactionsInOneRevision) {
  Put("a", "1");
  TxnRequest request;
  Compare* compare = request.add_compare();
  compare->set_key("a");
  compare->set_target(Compare::VALUE);
  compare->set_value("1");
  for (const char* key : {"a", "b"}) {
    PutRequest* put = request.add_success()->mutable_request_put();
    put->set_key(key);
    put->set_value("new");
  }
  request.add_success()->mutable_request_range()->set_key("b");
  request.add_failure()->mutable_request_range()->set_key("a");
  ::grpc::ClientContext context;
  TxnResponse response;
  ASSERT_TRUE(kv_->Txn(&context, request, &response).ok());
  EXPECT_TRUE(response.succeeded());
  EXPECT_EQ(response.header().revision(), 3);
  EXPECT_EQ(response.responses(2).response_range().kvs(0).value(), "new");  // a transaction sees its own writes
  EXPECT_EQ(Get("a").kvs(0).mod_revision(), Get("b").kvs(0).mod_revision());
  ::grpc::ClientContext again;
  ASSERT_TRUE(kv_->Txn(&again, request, &response).ok());
  EXPECT_FALSE(response.succeeded());
  EXPECT_EQ(response.header().revision(), 3);
}

TEST_F(ServerTest, WatchesHistoryAndNewEventsInOrder) {
  for (int i = 0; i < 50; ++i) Put("w" + std::to_string(i % 5), std::to_string(i));
  ::grpc::ClientContext context;
  const auto stream = watch_->Watch(&context);
  WatchRequest request;
  request.mutable_create_request()->set_key("w");
  request.mutable_create_request()->set_range_end("x");
  request.mutable_create_request()->set_start_revision(2);
  request.mutable_create_request()->set_prev_kv(true);
  stream->Write(request);
  std::thread writer([this] {
    for (int i = 50; i < 100; ++i) Put("w" + std::to_string(i % 5), std::to_string(i));
  });
  std::int64_t next = 2;
  WatchResponse response;
  while (next < 102 && stream->Read(&response)) {
    for (const auto& event : response.events()) {
      EXPECT_EQ(event.kv().mod_revision(), next);
      EXPECT_EQ(event.has_prev_kv(), next >= 7);
      ++next;
    }
  }
  writer.join();
  EXPECT_EQ(next, 102);
  WatchRequest progress;
  progress.mutable_progress_request();
  stream->Write(progress);
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.watch_id(), -1);
  EXPECT_EQ(response.header().revision(), 101);
  context.TryCancel();
}

TEST_F(ServerTest, EndsAWatchOfCompactedHistory) {
  for (int i = 0; i < 5; ++i) Put("a", "v");
  Compact(5);
  ::grpc::ClientContext context;
  const auto stream = watch_->Watch(&context);
  WatchRequest request;
  request.mutable_create_request()->set_key("a");
  request.mutable_create_request()->set_start_revision(3);
  stream->Write(request);
  WatchResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.created());
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.canceled());
  EXPECT_EQ(response.compact_revision(), 5);
  context.TryCancel();
}

TEST_F(ServerTest, LeasesSurviveARestartAndDeleteTheirKeys) {
  LeaseGrantRequest grant;
  grant.set_ttl(2);
  LeaseGrantResponse granted;
  {
    ::grpc::ClientContext context;
    ASSERT_TRUE(lease_->LeaseGrant(&context, grant, &granted).ok());
  }
  Put("leased", "v", granted.id());
  Stop();
  Start();
  LeaseTimeToLiveRequest ask;
  ask.set_id(granted.id());
  ask.set_keys(true);
  LeaseTimeToLiveResponse left;
  {
    ::grpc::ClientContext context;
    ASSERT_TRUE(lease_->LeaseTimeToLive(&context, ask, &left).ok());
  }
  EXPECT_EQ(left.grantedttl(), 2);
  ASSERT_EQ(left.keys_size(), 1);
  clock_.Advance(std::chrono::seconds(3));
  EXPECT_TRUE(apimesh::testing::Eventually([this] { return Get("leased").kvs_size() == 0; }));
}

TEST_F(ServerTest, QuotaRaisesTheAlarmAndStillLetsDeletesThrough) {
  Stop();
  quota_ = 300'000;
  Start();
  for (int i = 0; i < 100 && status_.ok(); ++i) Put("k" + std::to_string(i), std::string(10'000, 'x'));
  EXPECT_EQ(status_.error_message(), "etcdserver: mvcc: database space exceeded");
  EXPECT_EQ(Delete("k0"), 1);
  EXPECT_TRUE(status_.ok());
  Put("small", "x");
  EXPECT_FALSE(status_.ok());  // until the alarm is cleared
}

TEST_F(ServerTest, AnswersGrpcHealthChecks) {
  ::grpc::GenericStub stub(channel_);
  ::grpc::ClientContext context;
  ::grpc::CompletionQueue queue;
  const ::grpc::Slice empty(std::string{});
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", ::grpc::ByteBuffer(&empty, 1), &queue);
  call->StartCall();
  ::grpc::ByteBuffer answer;
  ::grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  ASSERT_TRUE(status.ok()) << status.error_message();
  ::grpc::Slice bytes;
  ASSERT_TRUE(answer.DumpToSingleSlice(&bytes).ok());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "\x08\x01");  // status: SERVING
}

TEST_F(ServerTest, DefragmentsWhileServing) {
  for (int i = 0; i < 200; ++i) Put("k" + std::to_string(i), std::string(5000, 'x'));
  Delete("k", "l");
  Compact(Put("last", "v").header().revision());
  ::grpc::ClientContext context;
  DefragmentResponse response;
  ASSERT_TRUE(maintenance_->Defragment(&context, {}, &response).ok());
  EXPECT_EQ(std::filesystem::status(folder_ / "base" / "data.mdb").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(Get("last").kvs(0).value(), "v");
  Put("after", "w");
  Stop();
  Start();
  EXPECT_EQ(Get("after").kvs(0).value(), "w");
}

}  // namespace
}  // namespace apimesh::store
