#include "services/authn-authz/authenticators/requestheader/requestheader.h"

#include "lib/base/hash/hex.h"
#include "lib/base/text/text.h"
#include "lib/credentials/option_rules.h"
#include "services/authn-authz/authenticators/union.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/join_errors.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

// Decodes %-escapes of a key; malformed escapes are kept unchanged.
std::string UnescapeKey(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '%') {
      out.push_back(key[i]);
      continue;
    }
    const int high = i + 2 < key.size() ? HexDigit(key[i + 1]) : -1;
    const int low = i + 2 < key.size() ? HexDigit(key[i + 2]) : -1;
    if (high < 0 || low < 0) return std::string(key);
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

class RequestHeader final : public Authenticator {
 public:
  RequestHeader(std::shared_ptr<CertificateVerifier> verifier, RequestHeaderOptions options)
      : verifier_(std::move(verifier)), options_(std::move(options)) {
    for (auto* names : {&options_.username_headers, &options_.uid_headers, &options_.group_headers,
                        &options_.extra_header_prefixes}) {
      for (std::string& name : *names) name = LowerCase(std::move(name));
    }
  }

  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    if (credentials->peer_certificates.empty()) co_return std::optional<Authenticated>();
    ASSIGN_OR_CO_RETURN(const CertificateIdentity proxy, verifier_->Verify(credentials->peer_certificates));
    const auto& allowed = options_.allowed_names;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), proxy.common_name) == allowed.end()) {
      co_return BadCredential(fmt::format("x509: subject with cn={} is not in the allowed list", proxy.common_name));
    }
    Authenticated answer;
    answer.user.name = First(*credentials, options_.username_headers);
    if (answer.user.name.empty()) co_return std::optional<Authenticated>();
    answer.user.uid = First(*credentials, options_.uid_headers);
    for (const std::string& name : options_.group_headers) {
      for (const auto& [key, value] : credentials->headers) {
        if (key == name && !value.empty()) answer.user.groups.push_back(value);
      }
    }
    for (const std::string& prefix : options_.extra_header_prefixes) {
      for (const auto& [key, value] : credentials->headers) {
        if (key.starts_with(prefix))
          answer.user.extra[UnescapeKey(std::string_view(key).substr(prefix.size()))].push_back(value);
      }
    }
    answer.expires = proxy.not_after;
    co_return std::optional(std::move(answer));
  }

 private:
  static std::string First(const Credentials& credentials, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const std::string_view value = credentials.Header(name); !value.empty()) return std::string(value);
    }
    return {};
  }

  std::shared_ptr<CertificateVerifier> verifier_;
  RequestHeaderOptions options_;
};

}  // namespace

std::unique_ptr<Authenticator> NewRequestHeader(std::shared_ptr<CertificateVerifier> verifier,
                                                RequestHeaderOptions options) {
  return std::make_unique<RequestHeader>(std::move(verifier), std::move(options));
}

std::unique_ptr<Authenticator> MakeRequestHeader(const AuthenticatorInputs& inputs) {
  const RequestHeaderFlags& flags = inputs.Get<RequestHeaderFlags>();
  if (flags.client_ca_file.empty()) return nullptr;
  const std::string& users_ca = inputs.options.client_ca_file;
  const std::vector<std::string> errors = credentials::RequestHeaderErrors(
      {.username_headers = flags.username_headers,
       .uid_headers = flags.uid_headers,
       .group_headers = flags.group_headers,
       .extra_headers_prefix = flags.extra_headers_prefix,
       .allowed_names = flags.allowed_names,
       .client_ca_pem = users_ca.empty() ? "" : OrThrow(ReadFile(users_ca), "client-ca-file"),
       .requestheader_client_ca_pem = OrThrow(ReadFile(flags.client_ca_file), "requestheader-client-ca-file")});
  if (!errors.empty()) throw std::runtime_error(JoinErrors(errors));
  std::shared_ptr<CertificateVerifier> verifier =
      OrThrow(CertificateVerifier::FromFile(flags.client_ca_file, inputs.clock), "requestheader-client-ca-file");
  return NewAudienceAgnostic(
      inputs.audiences,
      NewRequestHeader(std::move(verifier), {flags.username_headers, flags.uid_headers, flags.group_headers,
                                             flags.extra_headers_prefix, flags.allowed_names}));
}

}  // namespace apimesh::authn_authz
