#include "lib/testing/system_clock.h"
#include "services/store/contract/contract.h"

namespace apimesh::store::contract {
namespace {

class LeaseContract : public Contract {
 protected:
  LeaseGrantResponse Grant(std::int64_t ttl, std::int64_t id = 0, const std::string& error = "") {
    LeaseGrantRequest request;
    request.set_ttl(ttl);
    request.set_id(id);
    return Ask(*server_->lease, &Lease::Stub::LeaseGrant, request, error);
  }
  LeaseRevokeResponse Revoke(std::int64_t id, const std::string& error = "") {
    LeaseRevokeRequest request;
    request.set_id(id);
    return Ask(*server_->lease, &Lease::Stub::LeaseRevoke, request, error);
  }
  LeaseTimeToLiveResponse TimeToLive(std::int64_t id) {
    LeaseTimeToLiveRequest request;
    request.set_id(id);
    request.set_keys(true);
    return Ask(*server_->lease, &Lease::Stub::LeaseTimeToLive, request);
  }
};

TEST_P(LeaseContract, AreGrantedListedAndRevoked) {
  EXPECT_EQ(Grant(600, 11).id(), 11);
  EXPECT_NE(Grant(600).id(), 0);
  Grant(600, 11, "etcdserver: lease already exists");
  EXPECT_EQ(Grant(1, 12).ttl(), 2);  // a shorter lease could expire during an election
  Grant(9'000'000'001, 13, "etcdserver: too large lease TTL");
  EXPECT_EQ(Ask(*server_->lease, &Lease::Stub::LeaseLeases, LeaseLeasesRequest()).leases_size(), 3);
  Put("x", "v", 99, "etcdserver: requested lease not found");
  Put("b", "v", 11);
  Put("a", "v", 11);
  const LeaseTimeToLiveResponse left = TimeToLive(11);
  EXPECT_EQ(left.grantedttl(), 600);
  EXPECT_GT(left.ttl(), 500);
  EXPECT_EQ(left.keys_size(), 2);
  Revoke(11);
  Revoke(11, "etcdserver: requested lease not found");
  EXPECT_EQ(TimeToLive(11).ttl(), -1);
  EXPECT_EQ(Get("a", "c").count(), 0);
}

TEST_P(LeaseContract, DeleteTheirKeysInOneRevision) {
  Grant(600, 21);
  for (const char* key : {"k1", "k2", "k3"}) Put(key, "v", 21);
  ::grpc::ClientContext context;
  context.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(60));
  const auto stream = server_->watch->Watch(&context);
  WatchRequest watch;
  watch.mutable_create_request()->set_key("k");
  watch.mutable_create_request()->set_range_end("l");
  stream->Write(watch);
  WatchResponse response;
  ASSERT_TRUE(stream->Read(&response) && response.created());
  const std::int64_t before = Revision();
  EXPECT_EQ(Revoke(21).header().revision(), before + 1);
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.events_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(response.events(i).type(), mvccpb::Event::DELETE);
    EXPECT_EQ(response.events(i).kv().mod_revision(), before + 1);
  }
  context.TryCancel();
}

TEST_P(LeaseContract, ReleaseKeysThatAreWrittenWithoutThem) {
  Grant(600, 31);
  Grant(600, 32);
  for (const char* key : {"k1", "k2", "k3"}) Put(key, "v", 31);
  Put("k1", "w", 32);
  Put("k2", "w");
  EXPECT_EQ(TimeToLive(31).keys_size(), 1);
  EXPECT_EQ(TimeToLive(32).keys_size(), 1);
  Revoke(31);
  const RangeResponse left = Get("k", "l");
  ASSERT_EQ(left.kvs_size(), 2);
  EXPECT_EQ(left.kvs(0).lease(), 32);
  EXPECT_EQ(left.kvs(1).lease(), 0);
}

TEST_P(LeaseContract, CanBeCompared) {
  Grant(600, 41);
  Put("k", "v", 41);
  for (const std::int64_t lease : {41, 42}) {
    TxnRequest txn;
    Compare* compare = txn.add_compare();
    compare->set_key("k");
    compare->set_target(Compare::LEASE);
    compare->set_lease(lease);
    EXPECT_EQ(Ask(*server_->kv, &KV::Stub::Txn, txn).succeeded(), lease == 41);
  }
}

TEST_P(LeaseContract, ExistAsLongAsTheyAreKeptAlive) {
  Grant(2, 51);
  Grant(2, 52);
  Put("kept", "v", 51);
  Put("left alone", "v", 52);
  ::grpc::ClientContext context;
  const auto stream = server_->lease->LeaseKeepAlive(&context);
  const auto keep_alive = [&](std::int64_t id) {
    LeaseKeepAliveRequest request;
    request.set_id(id);
    LeaseKeepAliveResponse response;
    EXPECT_TRUE(stream->Write(request) && stream->Read(&response));
    EXPECT_EQ(response.id(), id);
    return response.ttl();
  };
  EXPECT_EQ(keep_alive(999), 0);  // the lease does not exist, and the stream continues
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(keep_alive(51), 2);
    return Get("left alone").count() == 0;
  }));
  EXPECT_EQ(Get("kept").count(), 1);
  EXPECT_EQ(keep_alive(52), 0);
  stream->WritesDone();
  EXPECT_TRUE(Eventually([&] { return Get("kept").count() == 0; }));
  EXPECT_EQ(TimeToLive(51).ttl(), -1);
  context.TryCancel();
}

INSTANTIATE_TEST_SUITE_P(Both, LeaseContract, ::testing::Values(Kind::kStore, Kind::kEtcd), &KindName);

}  // namespace
}  // namespace apimesh::store::contract
