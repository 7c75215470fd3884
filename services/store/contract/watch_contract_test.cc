#include <set>

#include "lib/testing/system_clock.h"
#include "services/store/contract/contract.h"

namespace apimesh::store::contract {
namespace {

/// One Watch call.
class Stream {
 public:
  explicit Stream(Endpoint& server) {
    context_.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(60));
    stream_ = server.watch->Watch(&context_);
  }
  ~Stream() { context_.TryCancel(); }

  WatchCreateRequest& Request() {
    request_.Clear();
    return *request_.mutable_create_request();
  }
  /// Sends the prepared request and returns the response.
  WatchResponse Create() {
    stream_->Write(request_);
    return Next();
  }
  void Create(const std::string& key, const std::string& end, std::int64_t start = 0) {
    WatchCreateRequest& request = Request();
    request.set_key(key);
    request.set_range_end(end);
    request.set_start_revision(start);
    EXPECT_TRUE(Create().created());
  }
  void Cancel(std::int64_t id) {
    WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(id);
    stream_->Write(request);
  }
  void AskForProgress() {
    WatchRequest request;
    request.mutable_progress_request();
    stream_->Write(request);
  }
  void SayNoMore() { stream_->WritesDone(); }
  WatchResponse Next() {
    WatchResponse response;
    EXPECT_TRUE(stream_->Read(&response)) << "the stream has ended";
    return response;
  }

 private:
  ::grpc::ClientContext context_;
  std::unique_ptr<::grpc::ClientReaderWriter<WatchRequest, WatchResponse>> stream_;
  WatchRequest request_;
};

class WatchContract : public Contract {
 protected:
  /// Puts several keys in one transaction and therefore in one revision.
  void PutTogether(const std::vector<std::string>& keys, const std::string& value) {
    TxnRequest txn;
    for (const std::string& key : keys) {
      txn.add_success()->mutable_request_put()->set_key(key);
      txn.mutable_success(txn.success_size() - 1)->mutable_request_put()->set_value(value);
    }
    Ask(*server_->kv, &KV::Stub::Txn, txn);
  }
};

TEST_P(WatchContract, ManyWatchesShareOneStream) {
  Stream stream(*server_);
  stream.Create("a", "");
  stream.Create("a", "c");
  WatchCreateRequest& named = stream.Request();
  named.set_key("b");
  named.set_watch_id(77);
  EXPECT_EQ(stream.Create().watch_id(), 77);
  const std::int64_t first = Put("a", "1"), second = Put("b", "2");
  std::multiset<std::pair<std::int64_t, std::int64_t>> seen;  // watch and revision
  for (int i = 0; i < 4; ++i) {
    const WatchResponse response = stream.Next();
    ASSERT_EQ(response.events_size(), 1) << response.ShortDebugString();
    seen.emplace(response.watch_id(), response.events(0).kv().mod_revision());
  }
  EXPECT_EQ(seen, (decltype(seen){{0, first}, {1, first}, {1, second}, {77, second}}));
}

TEST_P(WatchContract, CancelEndsOneWatchAndLeavesTheOthers) {
  Stream stream(*server_);
  stream.Create("k", "");
  stream.Create("k", "l");
  stream.Cancel(0);
  const WatchResponse canceled = stream.Next();
  EXPECT_TRUE(canceled.canceled());
  EXPECT_EQ(canceled.watch_id(), 0);
  EXPECT_EQ(canceled.cancel_reason(), "");
  EXPECT_EQ(canceled.compact_revision(), 0);
  stream.Cancel(0);    // already cancelled
  stream.Cancel(123);  // never created
  const std::int64_t revision = Put("k", "v");
  const WatchResponse event = stream.Next();
  EXPECT_EQ(event.watch_id(), 1);
  ASSERT_EQ(event.events_size(), 1);
  EXPECT_EQ(event.events(0).kv().mod_revision(), revision);
  // No event was sent in between, and none follows.
  stream.AskForProgress();
  const WatchResponse progress = stream.Next();
  EXPECT_EQ(progress.watch_id(), -1);
  EXPECT_EQ(progress.events_size(), 0);
  EXPECT_EQ(progress.header().revision(), revision);
}

TEST_P(WatchContract, InvalidWatchesAreRejectedWithAReason) {
  Stream stream(*server_);
  stream.Request().set_watch_id(5);
  EXPECT_FALSE(stream.Create().canceled());
  const auto refused = [&](const char* reason) {
    const WatchResponse response = stream.Create();
    EXPECT_TRUE(response.created() && response.canceled());
    EXPECT_EQ(response.watch_id(), -1);
    EXPECT_EQ(response.cancel_reason(), reason);
  };
  stream.Request().set_watch_id(5);
  refused("mvcc: duplicate watch ID provided on the WatchStream");
  WatchCreateRequest& empty = stream.Request();
  empty.set_key("b");
  empty.set_range_end("a");
  refused("mvcc: watcher range is empty");
  stream.Request().set_start_revision(-1);
  refused("etcdserver: mvcc: required revision has been compacted");
}

TEST_P(WatchContract, AWatchOfTheFutureBeginsThere) {
  Stream stream(*server_);
  const std::int64_t now = Revision();
  stream.Create("f", "", now + 3);
  for (int i = 0; i < 4; ++i) Put("f", std::to_string(i));
  EXPECT_EQ(stream.Next().events(0).kv().mod_revision(), now + 3);
  EXPECT_EQ(stream.Next().events(0).kv().mod_revision(), now + 4);
}

TEST_P(WatchContract, AHalfClosedClientStillReceivesEvents) {
  Stream stream(*server_);
  stream.Create("h", "");
  stream.SayNoMore();
  const std::int64_t revision = Put("h", "v");
  EXPECT_EQ(stream.Next().events(0).kv().mod_revision(), revision);
}

// More events than a slice of history contains: still one revision, so one response.
TEST_P(WatchContract, ARevisionIsNeverSplit) {
  constexpr int kKeys = 6000;
  for (int start = 0; start < kKeys; start += 100) {
    std::vector<std::string> keys;
    for (int i = start; i < start + 100; ++i) keys.push_back("many/" + std::to_string(i));
    PutTogether(keys, "v");
  }
  Stream live(*server_);
  live.Create("many/", "many0");
  const DeleteRangeResponse deleted = Delete("many/", "many0");
  EXPECT_EQ(deleted.deleted(), kKeys);
  EXPECT_EQ(live.Next().events_size(), kKeys);
  Stream late(*server_);
  WatchCreateRequest& request = late.Request();
  request.set_key("many/");
  request.set_range_end("many0");
  request.set_start_revision(1);
  request.add_filters(WatchCreateRequest::NOPUT);
  EXPECT_TRUE(late.Create().created());
  const WatchResponse past = late.Next();
  EXPECT_EQ(past.events_size(), kKeys);
  EXPECT_FALSE(past.fragment());
  for (const auto& event : past.events()) ASSERT_EQ(event.kv().mod_revision(), deleted.header().revision());
}

// A response that exceeds the request limit is split between events if the client requested fragments.
TEST_P(WatchContract, LargeResponsesComeInFragments) {
  const std::vector<std::string> keys{"large/1", "large/2"};
  PutTogether(keys, std::string(700'000, 'a'));
  const std::int64_t start = Revision() + 1;
  Stream whole(*server_), live(*server_);
  const auto request = [&](Stream& stream, bool fragment, std::int64_t from) {
    WatchCreateRequest& create = stream.Request();
    create.set_key("large/");
    create.set_range_end("large0");
    create.set_start_revision(from);
    create.set_prev_kv(true);
    create.set_fragment(fragment);
    EXPECT_TRUE(stream.Create().created());
  };
  request(whole, false, 0);
  request(live, true, 0);
  PutTogether(keys, std::string(700'000, 'b'));  // 2.8 MB with previous values
  EXPECT_EQ(whole.Next().events_size(), 2);
  Stream late(*server_);
  request(late, true, start);
  for (Stream* stream : {&live, &late}) {
    const WatchResponse first = stream->Next(), second = stream->Next();
    ASSERT_EQ(first.events_size(), 1);
    ASSERT_EQ(second.events_size(), 1);
    EXPECT_TRUE(first.fragment());
    EXPECT_FALSE(second.fragment());
    EXPECT_EQ(first.events(0).kv().key(), "large/1");
    EXPECT_EQ(second.events(0).kv().key(), "large/2");
    EXPECT_EQ(first.events(0).prev_kv().value(), std::string(700'000, 'a'));
    EXPECT_EQ(first.header().revision(), second.header().revision());
  }
}

TEST_P(WatchContract, IdleWatchesReceiveProgressNotifications) {
  Stream stream(*server_);
  WatchCreateRequest& request = stream.Request();
  request.set_key("quiet");
  request.set_progress_notify(true);
  EXPECT_TRUE(stream.Create().created());
  stream.Create("also quiet", "");
  WatchCreateRequest& future = stream.Request();
  future.set_key("quiet");
  future.set_progress_notify(true);
  future.set_start_revision(Revision() + 1000);
  EXPECT_TRUE(stream.Create().created());
  const std::int64_t revision = Put("elsewhere", "v");
  // Only the first watch has requested progress notifications and has progress to report.
  for (std::int64_t reported = 0; reported < revision;) {
    const WatchResponse progress = stream.Next();
    ASSERT_EQ(progress.watch_id(), 0);
    ASSERT_EQ(progress.events_size(), 0);
    ASSERT_GE(progress.header().revision(), reported);
    ASSERT_LE(progress.header().revision(), revision);
    reported = progress.header().revision();
  }
  EXPECT_EQ(stream.Next().watch_id(), 0);  // and it is sent again
}

// History is sent first, whatever is requested meanwhile.
TEST_P(WatchContract, ProgressIsNeverAheadOfEvents) {
  for (int i = 0; i < 300; ++i) Put("p" + std::to_string(i % 7), std::string(1000, 'v'));
  const std::int64_t newest = Revision();
  Stream stream(*server_);
  stream.Create("p", "q", newest - 299);
  std::int64_t seen = newest - 300;
  for (bool reported = false; !reported;) {
    stream.AskForProgress();
    const WatchResponse response = stream.Next();
    reported = response.events_size() == 0;
    for (const auto& event : response.events()) EXPECT_EQ(event.kv().mod_revision(), ++seen);
    if (reported) {
      EXPECT_EQ(response.header().revision(), seen);
    }
  }
  EXPECT_EQ(seen, newest);
}

TEST_P(WatchContract, CompactionEndsOnlyWatchesOfCompactedRevisions) {
  Stream live(*server_);
  live.Create("c", "");
  for (int i = 0; i < 10; ++i) Put("c", std::to_string(i));
  const std::int64_t newest = Revision();
  Compact(newest - 2);
  Stream late(*server_);
  late.Create("c", "", newest - 5);
  const WatchResponse canceled = late.Next();
  EXPECT_TRUE(canceled.canceled());
  EXPECT_EQ(canceled.compact_revision(), newest - 2);
  late.Create("c", "", newest - 2);  // the revision of the compaction itself is still available
  EXPECT_EQ(late.Next().events(0).kv().mod_revision(), newest - 2);
  std::int64_t seen = 0;
  while (seen < newest) {
    const WatchResponse response = live.Next();
    ASSERT_FALSE(response.canceled());
    seen = response.events(response.events_size() - 1).kv().mod_revision();
  }
}

INSTANTIATE_TEST_SUITE_P(Both, WatchContract, ::testing::Values(Kind::kStore, Kind::kEtcd), &KindName);

}  // namespace
}  // namespace apimesh::store::contract
