#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "lib/externaljwt/key_cache.h"

/// Signing of service-account tokens by a separate program (--service-account-signing-endpoint), and the keys with
/// which it signs.
namespace apimesh::externaljwt {

/// Returns the key id in `header`, the first part of a token. Returns an error with kube-apiserver's message if the
/// header is not base64url of an object with only alg, kid and typ, or if a value is not allowed.
Result<std::string> CheckHeader(const std::string& header);

class Signer final {
 public:
  /// Fetches the keys and the metadata of the signer at `path`, and waits up to 25 s for them. The caller must not be
  /// on an I/O thread. Throws std::runtime_error with kube-apiserver's message if that fails. Returns nullptr if `path`
  /// is empty.
  static std::shared_ptr<Signer> SetUp(const std::string& path, const Clock& clock);
  Signer(std::shared_ptr<SignerService> service, KeySet keys, std::int64_t max_expiration, const Clock& clock,
         std::shared_ptr<CallMetrics> metrics);

  /// From now on the keys are kept current by a loop on `executor`.
  void Start(service::Metrics& metrics, boost::asio::any_io_executor executor);
  void Stop() { keys_->Stop(); }

  KeyCache& Keys() { return *keys_; }
  /// The longest lifetime of a token that the signer supports.
  std::int64_t MaxTokenExpirationSeconds() const { return max_expiration_; }
  /// Returns a token with these claims. A response of the signer that is not valid is an error.
  Task<Result<std::string>> Sign(boost::json::object claims, SteadyTime deadline);

 private:
  Task<Result<std::string>> SignOnce(boost::json::object claims, SteadyTime deadline);

  const std::shared_ptr<SignerService> service_;
  const Clock& clock_;
  const std::shared_ptr<CallMetrics> metrics_;
  const std::shared_ptr<KeyCache> keys_;
  const std::int64_t max_expiration_;
};

}  // namespace apimesh::externaljwt
