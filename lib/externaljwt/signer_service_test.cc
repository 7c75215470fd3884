// Tests the calls of a signer over gRPC on a Unix socket.
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "lib/base/async/wakeup.h"
#include "lib/credentials/test_keys.h"
#include "lib/externaljwt/signer.h"
#include "lib/grpc/server.h"
#include "lib/grpc/typed_call.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "proto/externaljwt/v1/externaljwt.pb.h"

namespace apimesh::externaljwt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Answers {
  v1::FetchKeysResponse keys;
  std::int64_t max_expiration = 7200;
  bool hang = false;
};

class Signers : public ::testing::Test {
 protected:
  Signers() {
    const auto key = credentials::PrivateKey::FromPem(credentials::test_keys::kRsaPem).value();
    v1::Key& added = *answers_.keys.add_keys();
    added.set_key_id("a");
    added.set_key(key.Public().ToDer());
    answers_.keys.set_refresh_hint_seconds(60);
    answers_.keys.mutable_data_timestamp()->set_seconds(1000);
    answers_.keys.mutable_data_timestamp()->set_nanos(500'000'000);
  }
  ~Signers() override {
    if (!server_) return;
    server_->Drain(std::chrono::milliseconds(10));
    server_.reset();
    work_.reset();
    context_.stop();
    thread_.join();
  }

  void Serve(const std::string& address) {
    grpc::Methods methods;
    const auto fetch = [this](v1::FetchKeysRequest) { return Fetch(&answers_); };
    const auto metadata = [this](v1::MetadataRequest) { return Metadata(&answers_); };
    methods.AddUnary("/v1.ExternalJWTSigner/FetchKeys",
                     grpc::Typed<v1::FetchKeysRequest, v1::FetchKeysResponse>(fetch));
    methods.AddUnary("/v1.ExternalJWTSigner/Metadata",
                     grpc::Typed<v1::MetadataRequest, v1::MetadataResponse>(metadata));
    grpc::Listener listener;
    listener.address = "unix:" + address;
    server_ = grpc::Serve({listener}, std::move(methods), {&context_}, testing::SystemClock());
    thread_ = std::thread([this] { context_.run(); });
  }
  /// Returns what is wrong with the answer; empty if it is accepted.
  std::string FetchError(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto service = NewSignerService(path_, testing::SystemClock(), std::make_shared<CallMetrics>());
    const auto keys = testing::RunTask(service->FetchKeys(testing::SystemClock().Steady() + limit));
    return keys ? "" : keys.error().message;
  }
  std::string SetUpError() {
    try {
      Signer::SetUp(path_, testing::SystemClock());
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  static Task<v1::FetchKeysResponse> Fetch(const Answers* answers) {
    if (answers->hang) co_await SleepFor(std::chrono::hours(1));
    co_return answers->keys;
  }
  static Task<v1::MetadataResponse> Metadata(const Answers* answers) {
    v1::MetadataResponse response;
    response.set_max_token_expiration_seconds(answers->max_expiration);
    co_return response;
  }

  Answers answers_;
  const std::string path_ = fmt::format("/tmp/apimesh-signer-{}/s.sock", ::getpid());
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
};

TEST_F(Signers, GiveTheirKeysAndLimits) {
  answers_.keys.mutable_keys(0)->set_exclude_from_oidc_discovery(true);
  Serve(path_);
  const auto signer = Signer::SetUp(path_, testing::SystemClock());
  const KeySetPtr keys = signer->Keys().Now();
  ASSERT_EQ(keys->keys.size(), 1u);
  EXPECT_EQ(keys->keys[0].id, "a");
  EXPECT_FALSE(keys->keys[0].published);
  EXPECT_EQ(keys->data_timestamp, 1000.5);
  EXPECT_GT(signer->Keys().SecondsToRefresh(), 30);
  EXPECT_EQ(signer->MaxTokenExpirationSeconds(), 7200);
  EXPECT_EQ(Signer::SetUp("", testing::SystemClock()), nullptr);
}

TEST_F(Signers, AreRefusedWithBadLimits) {
  answers_.max_expiration = 599;
  Serve(path_);
  EXPECT_EQ(SetUpError(), "max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)");
}

TEST_F(Signers, AreRefusedWithBadKeys) {
  Serve(path_);
  EXPECT_EQ(FetchError(), "");
  const v1::FetchKeysResponse good = answers_.keys;
  const auto error_with = [&](auto change) {
    answers_.keys = good;
    change(answers_.keys);
    return FetchError();
  };
  EXPECT_EQ(error_with([](auto& r) { r.set_refresh_hint_seconds(0); }), "found invalid refresh hint (0s)");
  EXPECT_EQ(error_with([](auto& r) { r.set_refresh_hint_seconds(-1); }), "found invalid refresh hint (-1s)");
  EXPECT_EQ(error_with([](auto& r) { r.set_refresh_hint_seconds(INT64_MAX); }), "");
  EXPECT_EQ(error_with([](auto& r) { r.clear_keys(); }), "found no keys");
  EXPECT_THAT(error_with([](auto& r) { r.clear_data_timestamp(); }), StartsWith("invalid data timestamp"));
  EXPECT_THAT(error_with([](auto& r) { r.mutable_data_timestamp()->set_nanos(-1); }),
              StartsWith("invalid data timestamp"));
  EXPECT_THAT(error_with([](auto& r) { r.mutable_data_timestamp()->set_seconds(INT64_MIN); }),
              StartsWith("invalid data timestamp"));
  EXPECT_EQ(error_with([](auto& r) { r.mutable_keys(0)->clear_key_id(); }), "found invalid public key id \"\"");
  EXPECT_THAT(error_with([](auto& r) { r.mutable_keys(0)->set_key_id(std::string(1025, 'k')); }),
              StartsWith("found invalid public key id"));
  EXPECT_EQ(error_with([](auto& r) { r.mutable_keys(0)->clear_key(); }), "found empty public key");
  EXPECT_THAT(error_with([](auto& r) { r.mutable_keys(0)->set_key("garbage"); }),
              StartsWith("while parsing external public keys: "));
  EXPECT_THAT(error_with([](auto& r) { r.mutable_keys(0)->mutable_key()->append("more"); }),
              StartsWith("while parsing external public keys: "));
}

TEST_F(Signers, ThatHangOrAreAbsentFailAtTheDeadline) {
  answers_.hang = true;
  EXPECT_THAT(FetchError(std::chrono::milliseconds(300)), HasSubstr("rpc error: code = Unavailable"));
  Serve(path_);
  EXPECT_THAT(FetchError(std::chrono::milliseconds(300)), HasSubstr("rpc error: code = DeadlineExceeded"));
}

TEST_F(Signers, MayStartAfterTheCall) {
  std::thread late([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Serve(path_);
  });
  EXPECT_EQ(FetchError(), "");
  late.join();
}

}  // namespace
}  // namespace apimesh::externaljwt
