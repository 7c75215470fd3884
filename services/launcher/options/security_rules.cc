// Rules for authentication, authorization and service account tokens.
#include <set>

#include <fmt/format.h>

#include "lib/base/secrets/secret_file.h"
#include "lib/credentials/key.h"
#include "lib/credentials/option_rules.h"
#include "lib/meta/errors/field_error.h"
#include "services/launcher/options/feature_gates.h"
#include "services/launcher/options/rules.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

using meta::Quoted;

constexpr std::int64_t kSecond = 1'000'000'000, kHour = 3600 * kSecond;
constexpr std::int64_t kWarnOnlyBoundTokenSeconds = 3607, kExtendedTokenSeconds = 365 * 24 * 3600;

bool AnyGiven(const CommandLine& flags, std::string_view prefix) {
  for (const auto& [flag, value] : flags.given) {
    if (flag->name.starts_with(prefix)) return true;
  }
  return false;
}

void CheckOidc(const CommandLine& flags, Findings& findings) {
  const bool given = AnyGiven(flags, "oidc-");
  if (!flags.Value("authentication-config").empty()) {
    if (given) findings.errors.push_back("authentication-config file and oidc-* flags are mutually exclusive");
  } else if (given && (flags.Value("oidc-issuer-url").empty() || flags.Value("oidc-client-id").empty())) {
    findings.errors.push_back(
        "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags "
        "are set");
  }
}

void CheckIssuers(const CommandLine& flags, Findings& findings) {
  std::set<std::string> seen;
  const std::vector<std::string> issuers = flags.Values("service-account-issuer");
  for (const std::string& issuer : issuers) {
    const std::string error = issuer.find(':') == issuer.npos ? "" : UrlError(issuer);
    if (!error.empty()) {
      findings.errors.push_back(
          fmt::format("service-account-issuer {} contained a ':' but was not a valid URL: {}", Quoted(issuer), error));
    } else if (issuer.empty()) {
      findings.errors.push_back("service-account-issuer should not be an empty string");
    } else if (!seen.insert(issuer).second) {
      findings.errors.push_back(fmt::format("service-account-issuer {} is already specified", Quoted(issuer)));
    }
  }
  if (issuers.empty()) findings.errors.push_back("service-account-issuer is a required flag");
}

void CheckTokenKeys(const CommandLine& flags, Findings& findings) {
  if (flags.Values("service-account-key-file").empty() && flags.Value("service-account-signing-endpoint").empty()) {
    findings.errors.push_back(
        "either `--service-account-key-file` or `--service-account-signing-endpoint` must be "
        "set");
  }
  const std::string address = flags.Value("service-account-jwks-uri");
  if (address.empty()) return;
  if (const std::string error = UrlError(address); !error.empty()) {
    findings.errors.push_back(fmt::format("service-account-jwks-uri must be a valid URL: {}", error));
  } else if (!address.starts_with("https:")) {
    findings.errors.push_back(fmt::format("service-account-jwks-uri requires https scheme, parsed as: {}", address));
  }
}

credentials::RequestHeaderFlags RequestHeaders(const CommandLine& flags) {
  const std::string client_ca = flags.Value("client-ca-file"), proxy_ca = flags.Value("requestheader-client-ca-file");
  return {.username_headers = flags.Values("requestheader-username-headers"),
          .uid_headers = flags.Values("requestheader-uid-headers"),
          .group_headers = flags.Values("requestheader-group-headers"),
          .extra_headers_prefix = flags.Values("requestheader-extra-headers-prefix"),
          .allowed_names = flags.Values("requestheader-allowed-names"),
          .client_ca_pem = client_ca.empty() ? "" : ReadFile(client_ca),
          .requestheader_client_ca_pem = proxy_ca.empty() ? "" : ReadFile(proxy_ca)};
}

/// Returns whether the name consists of letters, digits, '-' and '_', with single dots between them.
bool IsAbstractSocketName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.' ? i == 0 || name[i - 1] == '.' : !allowed(name[i])) return false;
  }
  return !name.empty() && name.back() != '.';
}

bool HasFirstIssuer(const CommandLine& flags) {
  const std::vector<std::string> issuers = flags.Values("service-account-issuer");
  return !issuers.empty() && !issuers[0].empty();
}

}  // namespace

void CompleteServiceAccounts(const CommandLine& flags, Findings& findings) {
  const std::int64_t longest = DurationOf(flags, "service-account-max-token-expiration");
  if (longest != 0 && (longest < kHour || longest > (std::int64_t{1} << 32) * kSecond)) {
    findings.errors.push_back("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
    return;
  }
  const std::string key_file = flags.Value("service-account-signing-key-file");
  const std::string endpoint = flags.Value("service-account-signing-endpoint");
  if (HasFirstIssuer(flags) && !endpoint.empty() && !key_file.empty()) {
    findings.errors.push_back(
        "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be "
        "set at the same time");
    return;
  }
  if (HasFirstIssuer(flags) && !key_file.empty()) {
    std::string error = OpenError(key_file);
    const std::optional<SecretBytes> key = ReadSecretFile(key_file);
    if (error.empty() && (!key || !credentials::PrivateKey::FromPem(*key))) {
      error = fmt::format("error reading private key file {}: data does not contain a valid RSA or ECDSA private key",
                          key_file);
    }
    if (!error.empty()) {
      findings.errors.push_back(fmt::format("failed to parse service-account-issuer-key-file: {}", error));
      return;
    }
  }
  if (!flags.IsTrue("service-account-extend-token-expiration") || longest == 0) return;
  const std::string shown = flags.Value("service-account-max-token-expiration");
  if (longest < kWarnOnlyBoundTokenSeconds * kSecond) {
    findings.warnings.push_back(fmt::format(
        "service-account-extend-token-expiration is true, in order to correctly trigger safe transition logic, "
        "service-account-max-token-expiration must be set longer than {} seconds (currently {})",
        kWarnOnlyBoundTokenSeconds, shown));
  }
  if (longest < kExtendedTokenSeconds * kSecond) {
    findings.warnings.push_back(fmt::format(
        "service-account-extend-token-expiration is true, enabling tokens valid up to {} seconds, which is longer than "
        "service-account-max-token-expiration set to {}",
        kExtendedTokenSeconds, shown));
  }
}

void ValidateAuthentication(const CommandLine& flags, Findings& findings) {
  CheckOidc(flags, findings);
  CheckIssuers(flags, findings);
  CheckTokenKeys(flags, findings);
  const credentials::RequestHeaderFlags headers = RequestHeaders(flags);
  if (!headers.uid_headers.empty() && !FeatureEnabled(flags, "RemoteRequestHeaderUID")) {
    findings.errors.push_back(
        "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
        "enabled");
  }
  for (std::string& error : credentials::RequestHeaderErrors(headers)) findings.errors.push_back(std::move(error));
  for (std::string& warning : credentials::RequestHeaderWarnings(headers))
    findings.warnings.push_back(std::move(warning));
}

void ValidateAuthorization(const CommandLine& flags, Findings& findings) {
  if (!flags.Value("authorization-config").empty()) {
    if (flags.Has("authorization-mode") || AnyGiven(flags, "authorization-webhook-")) {
      findings.errors.push_back(
          "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags "
          "are defined");
    }
    const std::string error = OpenError(flags.Value("authorization-config"));
    if (!error.empty()) findings.errors.push_back(error);
    return;  // authn-authz checks its contents
  }
  std::vector<std::string> modes = flags.Values("authorization-mode");
  if (modes.empty()) modes = {std::string(FindKubeApiserverFlag("authorization-mode")->default_value)};
  const credentials::AuthorizationFlags given{std::move(modes), flags.Value("authorization-policy-file"),
                                              flags.Value("authorization-webhook-config-file")};
  for (std::string& error : credentials::AuthorizationFlagErrors(given)) findings.errors.push_back(std::move(error));
}

void ApplyWebhooks(const CommandLine& flags, Findings& findings) {
  const auto refuse = [&](std::string_view file, std::string_view version_flag, std::string_view message) {
    const std::string version = flags.Value(version_flag);
    if (flags.Value(file).empty() || version == "v1" || version == "v1beta1") return;
    findings.errors.push_back(
        fmt::format("{} {}, supported versions are \"v1\", \"v1beta1\"", message, Quoted(version)));
  };
  refuse("authentication-token-webhook-config-file", "authentication-token-webhook-version",
         "unsupported authentication webhook version");
  if (!findings.errors.empty()) return;
  refuse("authorization-webhook-config-file", "authorization-webhook-version",
         "invalid authorization config: unsupported webhook authorizer version");
}

void ValidateTokenRequest(const CommandLine& flags, Findings& findings) {
  const std::string key_file = flags.Value("service-account-signing-key-file");
  const std::string endpoint = flags.Value("service-account-signing-endpoint");
  const bool attempted = !key_file.empty() || HasFirstIssuer(flags) || !flags.Values("api-audiences").empty();
  if (!attempted) {
    findings.errors.push_back("--service-account-signing-key-file and --service-account-issuer are required flags");
  } else if (!HasFirstIssuer(flags) || (key_file.empty() && endpoint.empty())) {
    findings.errors.push_back(
        "--service-account-signing-key-file, --service-account-issuer, and --api-audiences "
        "should be specified together");
  }
}

void ValidateTokenSigning(const CommandLine& flags, Findings& findings) {
  const std::string endpoint = flags.Value("service-account-signing-endpoint");
  if (endpoint.empty()) return;
  if (!flags.Value("service-account-signing-key-file").empty() || !flags.Values("service-account-key-file").empty()) {
    findings.errors.push_back(
        "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with "
        "`--service-account-signing-endpoint` (They are "
        "mutually exclusive)");
  }
  if (endpoint.starts_with('@') && !IsAbstractSocketName(endpoint.substr(1))) {
    findings.errors.push_back(
        fmt::format("invalid value {} passed for `--service-account-signing-endpoint`, when prefixed with @ must be a "
                    "valid abstract socket name",
                    Quoted(endpoint)));
  }
}

}  // namespace apimesh::launcher
