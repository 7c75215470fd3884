#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/credentials/key.h"
#include "lib/externaljwt/metrics.h"
#include "lib/grpc/status.h"

namespace apimesh::externaljwt {

/// An error with kube-apiserver's text. `code` is set if a call failed.
struct Failure {
  std::optional<grpc::Code> code;
  std::string message;
};
inline Failure Fail(std::string message) { return {std::nullopt, std::move(message)}; }
/// Returns the name of a gRPC code as Go writes it.
std::string CodeName(grpc::Code code);
template <class T = void>
using Result = boost::system::result<T, Failure>;
[[noreturn]] void throw_exception_from_error(const Failure& failure, const boost::source_location& where);

/// Returns the result as a label of metrics.
template <class T>
std::string CodeLabel(const Result<T>& result) {
  if (result) return CodeName(grpc::Code::kOk);
  return result.error().code ? CodeName(*result.error().code) : "unknown-non-grpc";
}

/// A key that verifies tokens.
struct Key {
  std::string id;  // the `kid` of tokens
  credentials::PublicKey key;
  bool published = true;  // false: not in the key set of the OpenID documents, and signs no new tokens
};

struct KeySet {
  std::vector<Key> keys;  // never empty
  double data_timestamp;  // when the signer read the keys from their source, in seconds since 1970
  SteadyTime refresh_at;  // when the keys should be fetched again
};

struct Signature {
  std::string header, signature;  // first and third part of a token; not checked
};

/// The calls of an external signer of tokens. While nothing listens at its socket, a call tries again until the
/// deadline. Thread-safe.
class SignerService {
 public:
  virtual ~SignerService() = default;
  /// `claims` is the second part of the token.
  virtual Task<Result<Signature>> Sign(std::string claims, SteadyTime deadline) = 0;
  virtual Task<Result<KeySet>> FetchKeys(SteadyTime deadline) = 0;
  /// Returns the longest lifetime of a token, in seconds.
  virtual Task<Result<std::int64_t>> MaxTokenExpiration(SteadyTime deadline) = 0;
};

/// Connects to the signer at the Unix socket `path`, or at the abstract socket if `path` begins with '@'.
std::shared_ptr<SignerService> NewSignerService(const std::string& path, const Clock& clock,
                                                std::shared_ptr<CallMetrics> metrics);

}  // namespace apimesh::externaljwt
