#include "lib/externaljwt/signer_service.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/grpc/typed_call.h"
#include "lib/meta/errors/field_error.h"
#include "proto/externaljwt/v1/externaljwt.pb.h"

namespace apimesh::externaljwt {
namespace {

constexpr std::size_t kMaxKeyId = 1024, kMaxKeys = 10'000;
constexpr std::int64_t kMaxRefreshHint = 10LL * 365 * 24 * 3600;  // larger hints have the same effect
constexpr std::chrono::milliseconds kRetry{200};

Failure CallFailure(std::string_view doing, const grpc::Status& status) {
  return {status.code, fmt::format("{}: rpc error: code = {} desc = {}", doing, CodeName(status.code), status.message)};
}

/// Returns why the time is invalid; empty if it is valid.
std::string WhyInvalid(const v1::FetchKeysResponse& response) {
  if (!response.has_data_timestamp()) return "invalid nil Timestamp";
  const auto& time = response.data_timestamp();
  if (time.seconds() < -62135596800) return "before 0001-01-01";
  if (time.seconds() > 253402300799) return "after 9999-12-31";
  if (time.nanos() < 0 || time.nanos() >= 1'000'000'000) return "has out-of-range nanos";
  return {};
}

Result<KeySet> ToKeySet(const v1::FetchKeysResponse& response, SteadyTime now) {
  if (response.refresh_hint_seconds() <= 0) {
    return Fail(fmt::format("found invalid refresh hint ({}s)", response.refresh_hint_seconds()));
  }
  if (response.keys().empty()) return Fail("found no keys");
  if (response.keys_size() > static_cast<int>(kMaxKeys)) return Fail(fmt::format("found more than {} keys", kMaxKeys));
  if (const std::string why = WhyInvalid(response); !why.empty()) {
    return Fail(fmt::format("invalid data timestamp: proto: {}", why));
  }
  KeySet set;
  for (const v1::Key& key : response.keys()) {
    if (key.key_id().empty() || key.key_id().size() > kMaxKeyId) {
      return Fail(fmt::format("found invalid public key id {}", meta::Quoted(key.key_id())));
    }
    if (key.key().empty()) return Fail("found empty public key");
    auto parsed = credentials::PublicKey::FromDer(key.key());
    if (!parsed) {
      return Fail(
          fmt::format("while parsing external public keys: key {} is not an RSA or ECDSA public key in PKIX format",
                      meta::Quoted(key.key_id())));
    }
    set.keys.push_back({key.key_id(), std::move(*parsed), !key.exclude_from_oidc_discovery()});
  }
  set.data_timestamp =
      static_cast<double>(response.data_timestamp().seconds()) + response.data_timestamp().nanos() / 1e9;
  set.refresh_at = now + std::chrono::seconds(std::min(response.refresh_hint_seconds(), kMaxRefreshHint));
  return set;
}

class GrpcSignerService final : public SignerService {
 public:
  GrpcSignerService(const std::string& path, const Clock& clock, std::shared_ptr<CallMetrics> metrics)
      : clock_(clock), metrics_(std::move(metrics)) {
    grpc::ChannelOptions options{.clock = clock};
    options.target = "unix:" + path;
    channel_ = grpc::Channel::New(std::move(options));
  }

  Task<Result<Signature>> Sign(std::string claims, SteadyTime deadline) override {
    v1::SignJWTRequest request;
    request.set_claims(std::move(claims));
    const auto answer = co_await Ask<v1::SignJWTResponse>("Sign", request, deadline);
    if (!answer.status.ok()) co_return CallFailure("while signing jwt", answer.status);
    Signature signature{answer.response.header(), answer.response.signature()};
    co_return signature;
  }

  Task<Result<KeySet>> FetchKeys(SteadyTime deadline) override {
    const v1::FetchKeysRequest request;
    const auto answer = co_await Ask<v1::FetchKeysResponse>("FetchKeys", request, deadline);
    if (!answer.status.ok()) {
      co_return CallFailure("while getting externally supported jwt signing keys", answer.status);
    }
    co_return ToKeySet(answer.response, clock_.Steady());
  }

  Task<Result<std::int64_t>> MaxTokenExpiration(SteadyTime deadline) override {
    const v1::MetadataRequest request;
    const auto answer = co_await Ask<v1::MetadataResponse>("Metadata", request, deadline);
    if (!answer.status.ok()) co_return CallFailure("while setting up external-jwt-signer", answer.status);
    co_return std::int64_t{answer.response.max_token_expiration_seconds()};
  }

 private:
  template <class Response, class Request>
  Task<grpc::UnaryAnswer<Response>> Ask(const char* name, const Request& request, SteadyTime deadline) {
    const std::string method = fmt::format("/v1.ExternalJWTSigner/{}", name);
    const SteadyTime started = clock_.Steady();
    grpc::UnaryAnswer<Response> answer;
    for (;;) {
      grpc::CallOptions options;
      options.deadline = deadline;
      answer = co_await grpc::Unary<Response>(channel_, method, request, std::move(options));
      const bool not_there = answer.status.code == grpc::Code::kUnavailable && answer.status.nothing_sent;
      if (!not_there || clock_.Steady() + kRetry >= deadline) break;
      co_await SleepFor(kRetry);
    }
    metrics_->CountCall(method, CodeName(answer.status.code),
                        std::chrono::duration<double>(clock_.Steady() - started).count());
    co_return answer;
  }

  const Clock& clock_;
  const std::shared_ptr<CallMetrics> metrics_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace

std::string CodeName(grpc::Code code) {
  static constexpr const char* kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const auto number = static_cast<std::size_t>(code);
  return number < std::size(kNames) ? kNames[number] : fmt::format("Code({})", number);
}

void throw_exception_from_error(const Failure& failure, const boost::source_location&) {
  throw std::runtime_error(failure.message);
}

std::shared_ptr<SignerService> NewSignerService(const std::string& path, const Clock& clock,
                                                std::shared_ptr<CallMetrics> metrics) {
  return std::make_shared<GrpcSignerService>(path, clock, std::move(metrics));
}

}  // namespace apimesh::externaljwt
