// Sends the same random requests to our store and to a real etcd. The responses must be equal.
#include <atomic>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/etcd_process.h"
#include "lib/testing/system_clock.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/server.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

/// One endpoint. Responses are returned as text, without the parts that may differ (ids, and the remaining time of a
/// lease).
class Endpoint {
 public:
  explicit Endpoint(const std::string& address)
      : channel_(::grpc::CreateChannel(address, ::grpc::InsecureChannelCredentials())),
        kv_(KV::NewStub(channel_)),
        watch_(Watch::NewStub(channel_)) {}

  bool WaitUntilReady() { return channel_->WaitForConnected(testing::SystemClock().Now() + std::chrono::seconds(60)); }

  std::string Version() {
    ::grpc::ClientContext context;
    StatusResponse response;
    Maintenance::NewStub(channel_)->Status(&context, {}, &response);
    return response.version();
  }

  std::string Ask(const RangeRequest& request) { return Call<RangeResponse>(request, &KV::Stub::Range); }
  std::string Ask(const PutRequest& request) { return Call<PutResponse>(request, &KV::Stub::Put); }
  std::string Ask(const DeleteRangeRequest& request) {
    return Call<DeleteRangeResponse>(request, &KV::Stub::DeleteRange);
  }
  std::string Ask(const TxnRequest& request) { return Call<TxnResponse>(request, &KV::Stub::Txn); }
  std::string Ask(const CompactionRequest& request) { return Call<CompactionResponse>(request, &KV::Stub::Compact); }

  /// Returns all events from the start of the request to `until`, or the reason why there are none. Batches may differ,
  /// so they are joined, but a revision must not be split except into fragments.
  std::string Follow(const WatchCreateRequest& create, std::int64_t until) {
    ::grpc::ClientContext context;
    context.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(30));
    const auto stream = watch_->Watch(&context);
    WatchRequest request;
    *request.mutable_create_request() = create;
    stream->Write(request);
    // A server may ignore a progress request while the watch still reads history, so the request is repeated.
    std::atomic<bool> done = false;
    std::thread asking([&] {
      WatchRequest ask;
      ask.mutable_progress_request();
      while (!done && stream->Write(ask)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
    std::string all;
    WatchResponse response;
    std::int64_t last = 0;
    bool fragmented = false;
    while (stream->Read(&response)) {
      if (response.canceled()) {
        all += fmt::format("cancelled: {} {}\n", response.cancel_reason(), response.compact_revision());
        break;
      }
      for (const auto& event : response.events()) {
        if (&event == &*response.events().begin() && event.kv().mod_revision() == last && !fragmented)
          all += "CUT APART\n";
        last = event.kv().mod_revision();
        all += event.ShortDebugString() + "\n";
      }
      fragmented = response.fragment();
      if (response.watch_id() == -1 && response.header().revision() >= until) break;
    }
    done = true;
    context.TryCancel();
    asking.join();
    while (stream->Read(&response)) {}
    stream->Finish();
    return all;
  }

 private:
  template <class Response, class Request>
  std::string Call(const Request& request,
                   ::grpc::Status (KV::Stub::*method)(::grpc::ClientContext*, const Request&, Response*)) {
    ::grpc::ClientContext context;
    Response response;
    const ::grpc::Status status = (kv_.get()->*method)(&context, request, &response);
    if (!status.ok()) return fmt::format("error {}: {}", static_cast<int>(status.error_code()), status.error_message());
    response.mutable_header()->clear_cluster_id();
    response.mutable_header()->clear_member_id();
    response.mutable_header()->clear_raft_term();
    return response.ShortDebugString();
  }

  std::shared_ptr<::grpc::Channel> channel_;
  std::unique_ptr<KV::Stub> kv_;
  std::unique_ptr<Watch::Stub> watch_;
};

/// Random requests over twelve keys, so that they affect each other. With more keys, etcd's sort returns keys that
/// compare equal in any order.
class Requests {
 public:
  explicit Requests(unsigned seed) : random_(seed) {}

  bool OneIn(unsigned n) { return random_() % n == 0; }
  std::int64_t Below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)));
  }
  std::string Key() {
    return std::string(1, static_cast<char>('a' + Below(3))) + (OneIn(2) ? "" : std::to_string(Below(3)));
  }
  std::string End(const std::string& key) {
    switch (Below(4)) {
      case 0: return {};
      case 1: return std::string(1, '\0');
      case 2: return key.substr(0, key.size() - 1) + static_cast<char>(key.back() + 1);
      default: return Key();
    }
  }

  RangeRequest Range(std::int64_t revision) {
    RangeRequest request;
    if (!OneIn(40)) request.set_key(Key());
    request.set_range_end(request.key().empty() ? "" : End(request.key()));
    if (OneIn(2)) request.set_limit(Below(6));
    if (OneIn(2)) request.set_revision(Below(revision + 3));
    if (OneIn(2)) request.set_sort_order(static_cast<RangeRequest::SortOrder>(Below(3)));
    if (OneIn(2)) request.set_sort_target(static_cast<RangeRequest::SortTarget>(Below(5)));
    request.set_serializable(OneIn(2));
    request.set_keys_only(OneIn(4));
    request.set_count_only(OneIn(6));
    if (OneIn(5)) request.set_min_mod_revision(Below(revision + 2));
    if (OneIn(5)) request.set_max_mod_revision(Below(revision + 2));
    if (OneIn(5)) request.set_min_create_revision(Below(revision + 2));
    if (OneIn(5)) request.set_max_create_revision(Below(revision + 2));
    return request;
  }
  PutRequest Put() {
    PutRequest request;
    if (!OneIn(40)) request.set_key(Key());
    request.set_ignore_value(OneIn(8));
    if (!request.ignore_value() || OneIn(8)) request.set_value("v" + std::to_string(Below(1000)));
    request.set_prev_kv(OneIn(2));
    request.set_ignore_lease(OneIn(8));
    if (OneIn(20)) request.set_lease(Below(3));
    return request;
  }
  DeleteRangeRequest Delete() {
    DeleteRangeRequest request;
    if (!OneIn(40)) request.set_key(Key());
    if (OneIn(3)) request.set_range_end(request.key().empty() ? "" : End(request.key()));
    request.set_prev_kv(OneIn(2));
    return request;
  }
  TxnRequest Txn(std::int64_t revision, int depth = 0) {
    TxnRequest request;
    for (std::int64_t i = Below(3); i > 0; --i) *request.add_compare() = Comparison(revision);
    for (std::int64_t i = Below(4); i > 0; --i) *request.add_success() = Operation(revision, depth);
    for (std::int64_t i = Below(4); i > 0; --i) *request.add_failure() = Operation(revision, depth);
    return request;
  }
  WatchCreateRequest WatchFrom(std::int64_t revision) {
    WatchCreateRequest request;
    request.set_key(Key());
    request.set_range_end(OneIn(2) ? std::string(1, '\0') : End(request.key()));
    request.set_start_revision(1 + Below(revision));
    request.set_prev_kv(OneIn(2));
    request.set_fragment(OneIn(3));
    if (OneIn(4)) request.add_filters(WatchCreateRequest::NOPUT);
    if (OneIn(4)) request.add_filters(WatchCreateRequest::NODELETE);
    return request;
  }

 private:
  Compare Comparison(std::int64_t revision) {
    Compare compare;
    compare.set_key(Key());
    if (OneIn(3)) compare.set_range_end(End(compare.key()));
    compare.set_result(static_cast<Compare::CompareResult>(Below(4)));
    compare.set_target(static_cast<Compare::CompareTarget>(Below(5)));
    switch (compare.target()) {
      case Compare::VERSION: compare.set_version(Below(4)); break;
      case Compare::CREATE: compare.set_create_revision(Below(revision)); break;
      case Compare::MOD: compare.set_mod_revision(Below(revision)); break;
      case Compare::VALUE: compare.set_value("v" + std::to_string(Below(1000))); break;
      default: compare.set_lease(Below(2)); break;
    }
    return compare;
  }
  RequestOp Operation(std::int64_t revision, int depth) {
    RequestOp op;
    switch (Below(depth < 2 ? 4 : 3)) {
      case 0: *op.mutable_request_range() = Range(revision); break;
      case 1: *op.mutable_request_put() = Put(); break;
      case 2: *op.mutable_request_delete_range() = Delete(); break;
      default: *op.mutable_request_txn() = Txn(revision, depth + 1); break;
    }
    return op;
  }

  std::mt19937 random_;
};

class Differential : public ::testing::Test {
 protected:
  Differential()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("differential" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Differential() override {
    ours_.reset();
    if (server_) server_->Stop();
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(folder_);
  }

  void SetUp() override {
    Options options;
    options.data_dir = folder_ / "store";
    options.listen_client_urls = {"http://127.0.0.1:0"};
    options.sync = false;
    server_ = std::make_unique<Server>(options, apimesh::testing::SystemClock());
    server_->Start();
    thread_ = std::thread([this] { server_->Run(); });
    ours_ = std::make_unique<Endpoint>(fmt::format("127.0.0.1:{}", server_->Ports()[0]));
    theirs_ = std::make_unique<Endpoint>(etcd_.Endpoint().substr(std::string_view("http://").size()));
    ASSERT_TRUE(ours_->WaitUntilReady());
    ASSERT_TRUE(theirs_->WaitUntilReady());
    const std::string version = theirs_->Version();
    if (!version.starts_with("3.6.")) GTEST_SKIP() << "the store answers as etcd 3.6 does; this is " << version;
  }

  template <class Request>
  void Compare(const Request& request) {
    const std::string ours = ours_->Ask(request), theirs = theirs_->Ask(request);
    if (ours == theirs) return;
    ++differences_;
    if (differences_ <= 5)
      ADD_FAILURE() << request.GetTypeName() << " " << request.ShortDebugString() << "\n  store " << ours
                    << "\n  etcd  " << theirs;
  }

  std::int64_t Revision() {
    RangeRequest request;
    request.set_key("a");
    const std::string answer = ours_->Ask(request);
    const std::size_t at = answer.find("revision: ");
    return at == std::string::npos ? 1 : std::atoll(answer.c_str() + at + 10);
  }

  std::filesystem::path folder_;
  apimesh::testing::EtcdProcess etcd_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::unique_ptr<Endpoint> ours_, theirs_;
  int differences_ = 0;
};

TEST_F(Differential, RespondsLikeEtcd) {
  const char* given = std::getenv("APIMESH_STORE_SEEDS");  // more seeds make the run longer
  const unsigned seeds = given == nullptr ? 4 : static_cast<unsigned>(std::atoi(given));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    Requests requests(seed);
    for (int i = 0; i < 250 && differences_ == 0; ++i) {
      const std::int64_t revision = Revision();
      switch (requests.Below(10)) {
        case 0:
        case 1:
        case 2: Compare(requests.Range(revision)); break;
        case 3:
        case 4: Compare(requests.Put()); break;
        case 5: Compare(requests.Delete()); break;
        case 6:
          if (requests.OneIn(10)) {
            CompactionRequest request;
            request.set_revision(requests.Below(revision + 2));
            request.set_physical(requests.OneIn(2));
            Compare(request);
          }
          break;
        default: Compare(requests.Txn(revision)); break;
      }
    }
    ASSERT_EQ(differences_, 0);  // after one difference the two states diverge
    const std::int64_t revision = Revision();
    for (int i = 0; i < 12; ++i) {
      const WatchCreateRequest request = requests.WatchFrom(revision);
      EXPECT_EQ(ours_->Follow(request, revision), theirs_->Follow(request, revision)) << request.ShortDebugString();
    }
  }
  EXPECT_EQ(differences_, 0);
}

}  // namespace
}  // namespace apimesh::store
