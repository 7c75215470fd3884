#pragma once

#include <map>
#include <string>

#include "lib/base/text/base64.h"
#include "lib/credentials/test_keys.h"
#include "lib/externaljwt/signer_service.h"

namespace apimesh::externaljwt {

/// A signer in memory. Tests change its members.
class FakeSigner final : public SignerService {
 public:
  explicit FakeSigner(const Clock& clock) : clock_(clock) {}

  Task<Result<Signature>> Sign(std::string claims, SteadyTime) override {
    Signature signature;
    signature.header = EncodeBase64Url(header);
    signature.signature = EncodeBase64Url(signing.Sign(signature.header + "." + claims)) + damage;
    co_return signature;
  }
  Task<Result<KeySet>> FetchKeys(SteadyTime) override {
    ++fetches;
    if (!problem.empty()) co_return Failure{grpc::Code::kUnavailable, problem};
    co_return Keys();
  }
  Task<Result<std::int64_t>> MaxTokenExpiration(SteadyTime) override { co_return max_expiration; }

  KeySet Keys() const {
    KeySet set{{}, 1, clock_.Steady() + refresh};
    for (const auto& [id, published] : ids) set.keys.push_back({id, signing.Public(), published});
    return set;
  }

  std::map<std::string, bool> ids{{"a", true}};  // id -> published
  credentials::PrivateKey signing = credentials::PrivateKey::FromPem(credentials::test_keys::kRsaPem).value();
  std::string header = R"({"alg":"RS256","kid":"a","typ":"JWT"})";
  std::string damage, problem;
  std::chrono::milliseconds refresh{3'600'000};
  std::int64_t max_expiration = 7200;
  int fetches = 0;

 private:
  const Clock& clock_;
};

}  // namespace apimesh::externaljwt
