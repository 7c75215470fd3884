// Tests the complete path to a plugin: gRPC on a Unix socket.
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "lib/encryption/kms.h"
#include "lib/grpc/server.h"
#include "lib/grpc/typed_call.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "proto/kms/v2/kms.pb.h"

namespace apimesh::encryption {
namespace {

using ::testing::HasSubstr;

Task<v2::StatusResponse> Status(v2::StatusRequest) {
  v2::StatusResponse response;
  response.set_version("v2");
  response.set_healthz("ok");
  response.set_key_id("key-1");
  co_return response;
}
Task<v2::EncryptResponse> Encrypt(v2::EncryptRequest request) {
  v2::EncryptResponse response;
  response.set_ciphertext("sealed:" + request.plaintext());
  response.set_key_id("key-1");
  (*response.mutable_annotations())["local-kek.example.com"] = std::string("\0\1", 2);
  co_return response;
}
Task<v2::DecryptResponse> Decrypt(v2::DecryptRequest request) {
  v2::DecryptResponse response;
  const bool known =
      request.key_id() == "key-1" && request.annotations().at("local-kek.example.com") == std::string("\0\1", 2);
  if (known) response.set_plaintext(request.ciphertext().substr(7));
  co_return response;
}

/// A plugin on its own thread.
class Plugin {
 public:
  explicit Plugin(const std::string& path) {
    grpc::Methods methods;
    methods.AddUnary("/v2.KeyManagementService/Status", grpc::Typed<v2::StatusRequest, v2::StatusResponse>(&Status));
    methods.AddUnary("/v2.KeyManagementService/Encrypt",
                     grpc::Typed<v2::EncryptRequest, v2::EncryptResponse>(&Encrypt));
    methods.AddUnary("/v2.KeyManagementService/Decrypt",
                     grpc::Typed<v2::DecryptRequest, v2::DecryptResponse>(&Decrypt));
    grpc::Listener listener;
    listener.address = "unix:" + path;
    server_ = grpc::Serve({listener}, std::move(methods), {&context_}, testing::SystemClock());
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Plugin() {
    server_->Drain(std::chrono::milliseconds(100));
    server_.reset();
    work_.reset();
    context_.stop();
    thread_.join();
  }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
};

class KmsSocket : public ::testing::Test {
 protected:
  std::shared_ptr<KmsService> Connect() {
    KmsConfig config;
    config.endpoint = "unix://" + path_;
    config.timeout = std::chrono::milliseconds(500);
    return NewKmsService(config, testing::SystemClock());
  }
  const std::string path_ = fmt::format("/tmp/apimesh-kms-{}/plugin.sock", ::getpid());
};

TEST_F(KmsSocket, SealsAndAnotherServerOpens) {
  const Plugin plugin(path_);
  const Clock& clock = testing::SystemClock();
  const auto writer = std::make_shared<Kms>("p", Connect(), clock),
             reader = std::make_shared<Kms>("p", Connect(), clock);
  const auto checked = testing::RunTask(writer->Check());
  ASSERT_TRUE(checked) << checked.error().message;
  const std::string stored = *writer->Seal("{}", "/registry/secrets/a/b");
  const auto unlocked = testing::RunTask(reader->FetchKey(stored));
  ASSERT_TRUE(unlocked) << unlocked.error().message;
  EXPECT_EQ(reader->Open(stored, "/registry/secrets/a/b")->plain, "{}");
}

TEST_F(KmsSocket, APluginThatIsNotThereIsATemporaryFailure) {
  const auto kms = std::make_shared<Kms>("p", Connect(), testing::SystemClock());
  const auto checked = testing::RunTask(kms->Check());
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().temporary);
  EXPECT_THAT(kms->Problem(), HasSubstr("KMS Provider p"));
}

}  // namespace
}  // namespace apimesh::encryption
