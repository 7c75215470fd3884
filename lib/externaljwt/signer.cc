#include "lib/externaljwt/signer.h"

#include <optional>
#include <stdexcept>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/jwt.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::externaljwt {
namespace {

constexpr std::chrono::seconds kStartTimeout{25}, kMetadataTimeout{10}, kSignTimeout{10};
constexpr std::int64_t kMinExpirationSeconds = 600;
constexpr std::size_t kMaxKeyId = 1024, kMaxHeader = 8 * 1024, kMaxSignature = 8 * 1024;

struct First {
  KeySet keys;
  std::int64_t max_expiration = 0;
};

Task<Result<First>> FetchFirst(std::shared_ptr<SignerService> service, const Clock& clock,
                               std::shared_ptr<CallMetrics> metrics) {
  First first;
  Result<KeySet> keys = co_await service->FetchKeys(clock.Steady() + kStartTimeout);
  metrics->CountFetch(CodeLabel(keys));
  if (!keys) {
    co_return Fail(fmt::format(
        "while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: "
        "while fetching token verification keys: {}",
        keys.error().message));
  }
  metrics->SetFetched(std::chrono::duration<double>(clock.Now().time_since_epoch()).count(), keys->data_timestamp);
  first.keys = std::move(*keys);
  const Result<std::int64_t> longest = co_await service->MaxTokenExpiration(clock.Steady() + kMetadataTimeout);
  if (!longest) co_return longest.error();
  if (*longest < kMinExpirationSeconds) {
    co_return Fail(
        fmt::format("max token life supported by external-jwt-signer ({}s) is less than acceptable (min {}s)", *longest,
                    kMinExpirationSeconds));
  }
  first.max_expiration = *longest;
  co_return first;
}

Failure BadHeader(std::string_view why) { return Fail(fmt::format("while validating header: {}", why)); }

bool IsAllowed(std::string_view algorithm) {
  return algorithm == "RS256" || algorithm == "ES256" || algorithm == "ES384" || algorithm == "ES512";
}

}  // namespace

Result<std::string> CheckHeader(const std::string& header) {
  const std::optional<std::string> text =
      header.size() <= kMaxHeader ? DecodeBase64Url(header) : std::optional<std::string>();
  if (!text) return BadHeader("while unwrapping header: illegal base64 data");
  boost::system::error_code error;
  const boost::json::value parsed = boost::json::parse(*text, error);
  if (error || !parsed.is_object()) return BadHeader("while parsing header JSON: it is not a JSON object");
  std::string algorithm, id, type;
  for (const auto& [name, value] : parsed.get_object()) {
    std::string* field = name == "alg" ? &algorithm : name == "kid" ? &id : name == "typ" ? &type : nullptr;
    if (!field) return BadHeader(fmt::format("while parsing header JSON: json: unknown field {}", meta::Quoted(name)));
    if (!value.is_string())
      return BadHeader(fmt::format("while parsing header JSON: {} is not a string", std::string(name)));
    *field = std::string_view(value.get_string());
  }
  if (type != "JWT") return BadHeader("bad type");
  if (id.empty()) return BadHeader("key id missing");
  if (id.size() > kMaxKeyId) return BadHeader("key id longer than 1 kb");
  if (!IsAllowed(algorithm)) return BadHeader(fmt::format("bad signing algorithm {}", meta::Quoted(algorithm)));
  return id;
}

std::shared_ptr<Signer> Signer::SetUp(const std::string& path, const Clock& clock) {
  if (path.empty()) return nullptr;
  const auto metrics = std::make_shared<CallMetrics>();
  std::optional<Result<First>> first;
  {
    boost::asio::io_context io{1};
    const auto done = [&](std::exception_ptr error, Result<First> result) {
      if (error) std::rethrow_exception(error);
      first.emplace(std::move(result));
      io.stop();
    };
    boost::asio::co_spawn(io, FetchFirst(NewSignerService(path, clock, metrics), clock, metrics), done);
    io.run();
  }
  if (!*first) throw std::runtime_error(first->error().message);
  return std::make_shared<Signer>(NewSignerService(path, clock, metrics), std::move((*first)->keys),
                                  (*first)->max_expiration, clock, metrics);
}

Signer::Signer(std::shared_ptr<SignerService> service, KeySet keys, std::int64_t max_expiration, const Clock& clock,
               std::shared_ptr<CallMetrics> metrics)
    : service_(std::move(service)),
      clock_(clock),
      metrics_(std::move(metrics)),
      keys_(std::make_shared<KeyCache>(service_, std::move(keys), clock, metrics_)),
      max_expiration_(max_expiration) {}

void Signer::Start(service::Metrics& metrics, boost::asio::any_io_executor executor) {
  metrics_->Publish(metrics);
  keys_->Start(std::move(executor));
}

Task<Result<std::string>> Signer::Sign(boost::json::object claims, SteadyTime deadline) {
  Result<std::string> token = co_await SignOnce(std::move(claims), deadline);
  metrics_->CountSign(CodeLabel(token));
  co_return token;
}

Task<Result<std::string>> Signer::SignOnce(boost::json::object claims, SteadyTime deadline) {
  const std::string payload = EncodeBase64Url(boost::json::serialize(claims));
  deadline = std::min(deadline, clock_.Steady() + kSignTimeout);
  ASSIGN_OR_CO_RETURN(const Signature answer, co_await service_->Sign(payload, deadline));
  ASSIGN_OR_CO_RETURN(const std::string id, CheckHeader(answer.header));
  const std::vector<Key> keys = co_await keys_->Find(id);
  for (const Key& key : keys) {
    if (!key.published) {
      co_return BadHeader(fmt::format("key used for signing JWT (kid: {}) is excluded from OIDC discovery docs", id));
    }
  }
  if (answer.signature.empty()) co_return Fail("empty signature returned");
  if (answer.signature.size() > kMaxSignature) co_return Fail("too long signature returned");
  const std::string token = answer.header + "." + payload + "." + answer.signature;
  const std::optional<credentials::Jwt> jwt = credentials::Jwt::Parse(token);
  const auto verifies = [&](const Key& key) { return jwt->Verify(key.key); };
  // A key that the signer does not publish yet is accepted, as in kube-apiserver.
  if (!jwt || (!keys.empty() && std::none_of(keys.begin(), keys.end(), verifies))) {
    co_return Fail(fmt::format("invalid signature returned for the key {}", id));
  }
  co_return token;
}

}  // namespace apimesh::externaljwt
