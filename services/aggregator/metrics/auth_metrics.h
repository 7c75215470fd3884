#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// kube-apiserver's metrics of authentication, authorization and impersonation. User names are not used as labels,
/// except for a few fixed ones. Thread-safe.
class AuthMetrics {
 public:
  enum class Authentication { kSuccess, kFailure, kError };
  enum class Authorization { kAllowed, kDenied, kNoOpinion, kError };

  explicit AuthMetrics(service::Metrics& metrics);
  ~AuthMetrics();

  void Authenticated(Authentication result, std::string_view user, std::chrono::duration<double> took);
  void Authorized(Authorization result, std::chrono::duration<double> took);
  /// `mode` is "" if the impersonation was refused.
  void Impersonation(const std::string& mode, bool allowed, std::chrono::duration<double> took);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
