#include "services/authn-authz/authenticators/x509/x509.h"

#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

class X509Authenticator final : public Authenticator {
 public:
  X509Authenticator(std::shared_ptr<CertificateVerifier> verifier, bool reads_uids, ObserveExpiry observe)
      : verifier_(std::move(verifier)), reads_uids_(reads_uids), observe_(std::move(observe)) {}

  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    if (credentials->peer_certificates.empty()) co_return std::optional<Authenticated>();
    ASSIGN_OR_CO_RETURN(CertificateIdentity identity, verifier_->Verify(credentials->peer_certificates));
    if (observe_) observe_(identity.not_after);
    if (identity.common_name.empty()) co_return std::optional<Authenticated>();
    if (!reads_uids_) identity.uids.clear();
    if (identity.uids.size() > 1) {
      co_return BadCredential(fmt::format("expected 1 UID, but found multiple: [{}]", fmt::join(identity.uids, " ")));
    }
    if (identity.uids.size() == 1 && identity.uids.front().empty())
      co_return BadCredential("UID cannot be an empty string");

    Authenticated answer;
    answer.user.name = std::move(identity.common_name);
    if (!identity.uids.empty()) answer.user.uid = std::move(identity.uids.front());
    answer.user.groups = std::move(identity.organizations);
    answer.user.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + identity.fingerprint};
    answer.expires = identity.not_after;
    co_return std::optional(std::move(answer));
  }

 private:
  std::shared_ptr<CertificateVerifier> verifier_;
  const bool reads_uids_;
  const ObserveExpiry observe_;
};

/// The histogram of kube-apiserver about how long certificates remain valid.
ObserveExpiry ExpiryHistogram(service::Metrics* metrics, const Clock& clock) {
  if (!metrics) return nullptr;
  service::Histogram histogram = metrics->GetHistogram(
      "apiserver_client_certificate_expiration_seconds",
      "Remaining lifetime of the certificates with which clients authenticate themselves.",
      {0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000});
  return [histogram, &clock](WallTime not_after) mutable {
    histogram.Observe(std::chrono::duration<double>(not_after - clock.Now()).count());
  };
}

}  // namespace

std::unique_ptr<Authenticator> NewX509(std::shared_ptr<CertificateVerifier> verifier, bool reads_uids,
                                       ObserveExpiry observe) {
  return std::make_unique<X509Authenticator>(std::move(verifier), reads_uids, std::move(observe));
}

std::unique_ptr<Authenticator> MakeX509(const AuthenticatorInputs& inputs) {
  const std::string& file = inputs.options.client_ca_file;
  if (file.empty()) return nullptr;
  return NewX509(OrThrow(CertificateVerifier::FromFile(file, inputs.clock), "client-ca-file"),
                 inputs.options.features.Enabled(features::kAllowParsingUserUIDFromCertAuth),
                 ExpiryHistogram(inputs.metrics, inputs.clock));
}

}  // namespace apimesh::authn_authz
