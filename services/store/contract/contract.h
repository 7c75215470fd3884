#pragma once

// Test code. The tests of this folder run twice, against our store and against a real etcd with the same flags, so that
// they require exactly what etcd does. Keys begin with the test's own prefix; revisions are relative.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/etcd_process.h"
#include "lib/testing/system_clock.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/options/options.h"
#include "services/store/server.h"

namespace apimesh::store::contract {

using namespace etcdserverpb;

enum class Kind { kStore, kEtcd };

inline std::string KindName(const ::testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::kStore ? "Store" : "Etcd";
}

/// One running server and its stubs.
class Endpoint {
 public:
  Endpoint(Kind kind, const std::vector<std::string>& flags) {
    if (kind == Kind::kEtcd) {
      apimesh::testing::EtcdProcess::Options options;
      options.arguments = flags;
      etcd_ = std::make_unique<apimesh::testing::EtcdProcess>(options);
      Connect(etcd_->Endpoint().substr(std::string_view("http://").size()));
      return;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "apimesh-store-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder for a store");
    folder_ = pattern;
    std::vector<std::string> all{"--data-dir", folder_ / "data", "--listen-client-urls", "http://127.0.0.1:0",
                                 "--unsafe-no-fsync"};
    all.insert(all.end(), flags.begin(), flags.end());
    server_ = std::make_unique<Server>(ParseOptions(all), apimesh::testing::SystemClock());
    server_->Start();
    thread_ = std::thread([this] { server_->Run(); });
    Connect("127.0.0.1:" + std::to_string(server_->Ports()[0]));
  }
  ~Endpoint() {
    kv.reset(), watch.reset(), lease.reset(), maintenance.reset(), channel_.reset();
    if (!server_) return;
    server_->Stop();
    thread_.join();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  bool WaitUntilReady() { return channel_->WaitForConnected(testing::SystemClock().Now() + std::chrono::seconds(60)); }

  std::unique_ptr<KV::Stub> kv;
  std::unique_ptr<Watch::Stub> watch;
  std::unique_ptr<Lease::Stub> lease;
  std::unique_ptr<Maintenance::Stub> maintenance;

 private:
  void Connect(const std::string& address) {
    channel_ = ::grpc::CreateChannel(address, ::grpc::InsecureChannelCredentials());
    kv = KV::NewStub(channel_);
    watch = Watch::NewStub(channel_);
    lease = Lease::NewStub(channel_);
    maintenance = Maintenance::NewStub(channel_);
  }

  std::unique_ptr<apimesh::testing::EtcdProcess> etcd_;
  std::filesystem::path folder_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::shared_ptr<::grpc::Channel> channel_;
};

/// Makes one call. An unexpected status fails the test.
template <class Response, class Request, class Stub>
Response Ask(Stub& stub, ::grpc::Status (Stub::*method)(::grpc::ClientContext*, const Request&, Response*),
             const Request& request, const std::string& expected_error = "") {
  ::grpc::ClientContext context;
  context.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(60));
  Response response;
  const ::grpc::Status status = (stub.*method)(&context, request, &response);
  EXPECT_EQ(status.error_message(), expected_error) << request.GetTypeName();
  return response;
}

class Contract : public ::testing::TestWithParam<Kind> {
 protected:
  /// The flags for both servers.
  virtual std::vector<std::string> Flags() { return {"--watch-progress-notify-interval=300ms"}; }

  void SetUp() override {
    server_ = std::make_unique<Endpoint>(GetParam(), Flags());
    ASSERT_TRUE(server_->WaitUntilReady());
    const auto status = Ask(*server_->maintenance, &Maintenance::Stub::Status, StatusRequest());
    if (!status.version().starts_with("3.6.")) {
      GTEST_SKIP() << "the store does as etcd 3.6; this is " << status.version();
    }
  }

  std::int64_t Put(const std::string& key, const std::string& value, std::int64_t lease_id = 0,
                   const std::string& error = "") {
    PutRequest request;
    request.set_key(key);
    request.set_value(value);
    request.set_lease(lease_id);
    return Ask(*server_->kv, &KV::Stub::Put, request, error).header().revision();
  }
  RangeResponse Get(const std::string& key, const std::string& end = "") {
    RangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    return Ask(*server_->kv, &KV::Stub::Range, request);
  }
  DeleteRangeResponse Delete(const std::string& key, const std::string& end = "") {
    DeleteRangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    return Ask(*server_->kv, &KV::Stub::DeleteRange, request);
  }
  void Compact(std::int64_t revision) {
    CompactionRequest request;
    request.set_revision(revision);
    request.set_physical(true);
    Ask(*server_->kv, &KV::Stub::Compact, request);
  }
  std::int64_t Revision() { return Get("no such key").header().revision(); }

  std::unique_ptr<Endpoint> server_;
};

using apimesh::testing::Eventually;

}  // namespace apimesh::store::contract
