#include "lib/encryption/kms_service.h"

#include <fmt/format.h>

#include "lib/base/wipe.h"
#include "lib/grpc/typed_call.h"
#include "proto/kms/v2/kms.pb.h"

namespace apimesh::encryption {
namespace {

/// Converts "unix:///path" or "unix:/path" to the address of a channel.
std::string Target(const std::string& endpoint) {
  std::string path = endpoint.substr(std::string_view("unix:").size());
  if (path.starts_with("//")) path.erase(0, 2);
  return "unix:" + path;
}

class GrpcKmsService final : public KmsService {
 public:
  GrpcKmsService(const KmsConfig& config, const Clock& clock) : timeout_(config.timeout), clock_(clock) {
    grpc::ChannelOptions options{.clock = clock};
    options.target = Target(config.endpoint);
    channel_ = grpc::Channel::New(std::move(options));
  }

  Task<Result<Status>> GetStatus() override {
    const v2::StatusRequest request;
    const auto answer = co_await Ask<v2::StatusResponse>("Status", request);
    if (!answer.status.ok()) co_return FailureOf(answer.status);
    Status status{answer.response.version(), answer.response.healthz(), answer.response.key_id()};
    co_return status;
  }

  Task<Result<Encrypted>> Encrypt(std::string uid, std::string plaintext) override {
    v2::EncryptRequest request;
    request.set_uid(uid);
    request.set_plaintext(plaintext);
    const auto answer = co_await Ask<v2::EncryptResponse>("Encrypt", request);
    Wipe(plaintext);
    Wipe(*request.mutable_plaintext());
    if (!answer.status.ok()) co_return FailureOf(answer.status);
    Encrypted encrypted{answer.response.ciphertext(), answer.response.key_id()};
    encrypted.annotations.insert(answer.response.annotations().begin(), answer.response.annotations().end());
    co_return encrypted;
  }

  Task<Result<std::string>> Decrypt(std::string uid, Encrypted encrypted) override {
    v2::DecryptRequest request;
    request.set_uid(uid);
    request.set_ciphertext(encrypted.ciphertext);
    request.set_key_id(encrypted.key_id);
    request.mutable_annotations()->insert(encrypted.annotations.begin(), encrypted.annotations.end());
    auto answer = co_await Ask<v2::DecryptResponse>("Decrypt", request);
    if (!answer.status.ok()) co_return FailureOf(answer.status);
    co_return std::move(*answer.response.mutable_plaintext());
  }

 private:
  template <class Response, class Request>
  Task<grpc::UnaryAnswer<Response>> Ask(const char* method, const Request& request) {
    grpc::CallOptions options;
    options.deadline = clock_.Steady() + timeout_;
    return grpc::Unary<Response>(channel_, fmt::format("/v2.KeyManagementService/{}", method), request,
                                 std::move(options));
  }

  static Failure FailureOf(const grpc::Status& status) {
    const bool temporary = status.code == grpc::Code::kUnavailable || status.code == grpc::Code::kDeadlineExceeded ||
                           status.code == grpc::Code::kCancelled;
    return Fail(fmt::format("rpc error: code = {} desc = {}", static_cast<int>(status.code), status.message),
                temporary);
  }

  const std::chrono::milliseconds timeout_;
  const Clock& clock_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace

std::shared_ptr<KmsService> NewKmsService(const KmsConfig& config, const Clock& clock) {
  return std::make_shared<GrpcKmsService>(config, clock);
}

}  // namespace apimesh::encryption
