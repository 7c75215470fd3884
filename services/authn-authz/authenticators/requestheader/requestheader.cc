#include "services/authn-authz/authenticators/requestheader/requestheader.h"

#include "lib/base/hex.h"

namespace apimesh::authn_authz {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// %-escapes of a key; a malformed one is kept as it came.
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
      for (std::string& name : *names) name = Lower(std::move(name));
    }
  }

  Task<Answer> Authenticate(CredentialsPtr credentials) override {
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
        if (key.starts_with(prefix)) answer.user.extra[UnescapeKey(std::string_view(key).substr(prefix.size()))].push_back(value);
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

std::unique_ptr<Authenticator> NewRequestHeader(std::shared_ptr<CertificateVerifier> verifier, RequestHeaderOptions options) {
  return std::make_unique<RequestHeader>(std::move(verifier), std::move(options));
}

}  // namespace apimesh::authn_authz
