#include "services/core-api/groups/authentication/token_request.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/secrets/secret_file.h"
#include "lib/credentials/jwt.h"
#include "lib/credentials/service_account_token.h"
#include "lib/meta/names.h"
#include "lib/meta/time.h"
#include "lib/meta/uuid.h"
#include "services/core-api/features/rule_features.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kMinSeconds = 600, kMaxSeconds = std::int64_t{1} << 32, kDefaultSeconds = 3600;
// Kubelets request tokens with this expiration. Such a token is extended (to one year unless the signer supports only
// less), and its use after the requested time is recorded.
constexpr std::int64_t kNotedSeconds = 3607;

std::vector<std::string> AudiencesOf(const meta::Object& request) {
  std::vector<std::string> audiences;
  const json::value* found = meta::Find(request.Root(), "spec", "audiences");
  if (!found || !found->is_array()) return audiences;
  for (const json::value& item : found->get_array()) {
    if (item.is_string()) audiences.emplace_back(std::string_view(item.get_string()));
  }
  return audiences;
}

std::int64_t SecondsOf(const meta::Object& request) {
  const json::value* found = meta::Find(request.Root(), "spec", "expirationSeconds");
  return found && found->is_int64() ? found->get_int64() : kDefaultSeconds;
}

credentials::ObjectRef RefOf(const meta::Object& object) {
  return {std::string(object.Name()), std::string(object.Uid())};
}

/// Reads the object to which the token is bound, and adds it to the claims.
Task<meta::Result<>> Bind(ReadObject read, std::string ns, json::object ref, std::string account,
                          std::shared_ptr<credentials::BoundTokenClaims> claims) {
  const std::string kind(meta::FindString(ref, "kind")), version(meta::FindString(ref, "apiVersion")),
      name(meta::FindString(ref, "name"));
  if (version.find('/') != std::string::npos || (kind != "Pod" && kind != "Node" && kind != "Secret")) {
    const std::size_t slash = version.find('/');
    const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
    co_return meta::BadRequest(fmt::format("cannot bind token to object of type {}/{}, Kind={}", group,
                                           slash == std::string::npos ? version : version.substr(slash + 1), kind));
  }
  if (name.empty()) co_return meta::BadRequest("Name parameter required.");
  if (const auto complaints = meta::CheckPathSegment(name); !complaints.empty()) {
    co_return meta::BadRequest(
        fmt::format("Name parameter invalid: {}: {}", meta::Quoted(name), fmt::join(complaints, ";")));
  }
  const std::string plural = kind == "Pod" ? "pods" : kind == "Node" ? "nodes" : "secrets";
  const std::string path =
      kind == "Node" ? "/api/v1/nodes/" + name : fmt::format("/api/v1/namespaces/{}/{}/{}", ns, plural, name);
  ASSIGN_OR_CO_RETURN(const meta::Object object, co_await read(path));
  if (kind == "Pod") {
    if (meta::FindString(object.Root(), "spec", "serviceAccountName") != account) {
      co_return meta::BadRequest(fmt::format(
          "cannot bind token for serviceaccount \"{}\" to pod running with different serviceaccount name.", account));
    }
    claims->pod = RefOf(object);
    const std::string node_name(meta::FindString(object.Root(), "spec", "nodeName"));
    if (!node_name.empty()) {
      const meta::Result<meta::Object> node = co_await read("/api/v1/nodes/" + node_name);
      claims->node = node ? RefOf(*node) : credentials::ObjectRef{node_name, ""};
    }
  } else if (kind == "Node") {
    claims->node = RefOf(object);
  } else {
    claims->secret = RefOf(object);
  }
  const std::string_view uid = meta::FindString(ref, "uid");
  if (!uid.empty() && uid != object.Uid()) {
    co_return meta::Conflict(
        {"", kind}, name,
        fmt::format("the UID in the bound object reference ({}) does not match the UID in record. The object might "
                    "have been deleted and then recreated",
                    uid));
  }
  co_return meta::Result<>();
}

Task<meta::Result<std::string>> Sign(std::shared_ptr<const TokenIssuer> issuer, json::object claims,
                                     SteadyTime deadline) {
  if (issuer->key) co_return credentials::SignJwt(*issuer->key, claims);
  auto token = co_await issuer->signer->Sign(std::move(claims), deadline);
  if (!token) co_return meta::InternalError(fmt::format("failed to generate token: {}", token.error().message));
  co_return std::move(*token);
}

Task<meta::Result<meta::Object>> Issue(std::shared_ptr<const TokenIssuer> issuer, ReadObject read, const Clock& clock,
                                       meta::RequestContext ctx, std::string name, meta::Object request) {
  const std::string ns = ctx.Info().ns;
  const meta::GroupKind kind{"authentication.k8s.io", "TokenRequest"};
  if (!request.Name().empty() && request.Name() != name) {
    meta::FieldErrors errors;
    errors.push_back(meta::Invalid("metadata.name", fmt::format("\"{}\"", request.Name()),
                                   "must match the service account name if specified"));
    co_return meta::Invalid(kind, name, errors);
  }
  ASSIGN_OR_CO_RETURN(const meta::Object account,
                      co_await read(fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}", ns, name)));
  const std::string sent_uid(request.Uid());
  if (!sent_uid.empty() && sent_uid != account.Uid()) {
    const std::string mismatch =
        fmt::format("the UID in the token request ({}) does not match the UID of the service account ({})", sent_uid,
                    account.Uid());
    if (ActiveRuleFeatures().token_request_service_account_uid_validation)
      co_return meta::Conflict({"authentication.k8s.io", "TokenRequest"}, name, mismatch);
    ctx.AddAuditAnnotation("authentication.k8s.io/token-request-uid-mismatch", mismatch);
    ctx.Warn(mismatch +
             " but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict "
             "error");
  }
  const WallTime now = clock.Now();
  request.SetMeta("name", name);
  request.SetMeta("namespace", ns);
  if (sent_uid.empty()) request.SetMeta("uid", account.Uid());
  request.SetMeta("creationTimestamp", meta::FormatTime(now));
  const meta::FieldErrors errors = ValidateTokenRequest(request);
  if (!errors.empty()) co_return meta::Invalid(kind, "", errors);

  const auto claims = std::make_shared<credentials::BoundTokenClaims>();
  claims->issuer = issuer->issuer;
  claims->ns = ns;
  claims->service_account = RefOf(account);
  claims->audiences = AudiencesOf(request);
  if (claims->audiences.empty()) claims->audiences = issuer->api_audiences;
  claims->id = meta::NewUuid();
  if (const json::value* ref = meta::Find(request.Root(), "spec", "boundObjectRef"); ref && ref->is_object()) {
    CO_RETURN_IF_ERROR(co_await Bind(read, ns, ref->get_object(), name, claims));
  }
  std::int64_t seconds = SecondsOf(request);
  if (issuer->max_expiration_seconds > 0 && seconds > issuer->max_expiration_seconds) {
    ctx.Warn(fmt::format("requested expiration of {} seconds shortened to {} seconds", seconds,
                         issuer->max_expiration_seconds));
    seconds = issuer->max_expiration_seconds;
  }
  claims->expiration_seconds = seconds;
  const bool for_us = std::any_of(claims->audiences.begin(), claims->audiences.end(), [&](const std::string& audience) {
    return std::find(issuer->api_audiences.begin(), issuer->api_audiences.end(), audience) !=
           issuer->api_audiences.end();
  });
  if (issuer->extend_expiration && claims->pod && seconds == kNotedSeconds && for_us) {
    claims->warn_after_seconds = seconds;
    claims->expiration_seconds = issuer->extended_expiration_seconds;
  }
  ASSIGN_OR_CO_RETURN(const std::string token,
                      co_await Sign(issuer, credentials::ToClaims(*claims, now), ctx.Deadline()));
  json::object& spec = meta::MakeObject(request.Root(), "spec");
  spec["audiences"] = json::array(claims->audiences.begin(), claims->audiences.end());
  spec["expirationSeconds"] = seconds;
  if (!spec.contains("boundObjectRef")) spec["boundObjectRef"] = nullptr;
  request.Root()["status"] = {{"token", token},
                              {"expirationTimestamp", meta::FormatTime(now + std::chrono::seconds(seconds))}};
  co_return request;
}

credentials::PrivateKey ReadSigningKey(const std::string& path) {
  const std::optional<SecretBytes> pem = ReadSecretFile(path);
  meta::Result<credentials::PrivateKey> key = credentials::PrivateKey::FromPem(pem ? pem->View() : std::string_view());
  if (!key) {
    throw std::runtime_error(fmt::format("--service-account-signing-key-file {}: {}", path, key.error().Message()));
  }
  return *key;
}

/// Returns a duration in Go's format, such as "2h0m0s".
std::string GoDuration(std::int64_t seconds) {
  const std::int64_t minutes = seconds / 60;
  if (minutes == 0) return fmt::format("{}s", seconds);
  if (minutes < 60) return fmt::format("{}m{}s", minutes, seconds % 60);
  return fmt::format("{}h{}m{}s", minutes / 60, minutes % 60, seconds % 60);
}

/// Sets the limits that follow from those of the external signer.
void ApplyLimits(const Flags& flags, TokenIssuer& issuer) {
  const std::int64_t supported = issuer.signer->MaxTokenExpirationSeconds();
  if (issuer.max_expiration_seconds == 0) {
    issuer.max_expiration_seconds = supported;
  } else if (issuer.max_expiration_seconds > supported) {
    throw std::runtime_error(
        fmt::format("service-account-max-token-expiration cannot be set longer than the token expiration supported by "
                    "service-account-signing-endpoint: {} > {}",
                    GoDuration(issuer.max_expiration_seconds), GoDuration(supported)));
  }
  if (flags.service_account_extend_token_expiration) {
    const std::string shown = GoDuration(issuer.max_expiration_seconds);
    if (issuer.max_expiration_seconds < kNotedSeconds) {
      log::Warning(
          "service-account-extend-token-expiration is true, in order to correctly trigger safe transition logic, token "
          "lifetime supported by external-jwt-signer must be longer than {} seconds (currently {})",
          kNotedSeconds, shown);
    }
    if (issuer.max_expiration_seconds < issuer.extended_expiration_seconds) {
      log::Warning(
          "service-account-extend-token-expiration is true, tokens validity will be caped at the smaller of {} seconds "
          "and maximum token lifetime supported by external-jwt-signer ({})",
          issuer.extended_expiration_seconds, shown);
    }
  }
  issuer.extended_expiration_seconds = std::min(issuer.extended_expiration_seconds, supported);
}

}  // namespace

std::optional<TokenIssuer> MakeTokenIssuer(const Flags& flags, std::shared_ptr<externaljwt::Signer> signer) {
  if (flags.service_account_issuer.empty() || (flags.service_account_signing_key_file.empty() && !signer)) {
    return std::nullopt;
  }
  TokenIssuer issuer{.issuer = flags.service_account_issuer[0],
                     .api_audiences = flags.api_audiences.empty() ? flags.service_account_issuer : flags.api_audiences,
                     .key = {},
                     .signer = std::move(signer)};
  if (!issuer.signer) issuer.key = ReadSigningKey(flags.service_account_signing_key_file);
  if (const auto limit = service::ParseDuration(flags.service_account_max_token_expiration)) {
    issuer.max_expiration_seconds = std::chrono::duration_cast<std::chrono::seconds>(*limit).count();
  }
  issuer.extend_expiration = flags.service_account_extend_token_expiration;
  if (issuer.signer) ApplyLimits(flags, issuer);
  return issuer;
}

meta::FieldErrors ValidateTokenRequest(const meta::Object& request) {
  meta::FieldErrors errors;
  const std::int64_t seconds = SecondsOf(request);
  if (seconds < kMinSeconds) {
    errors.push_back(meta::Invalid("spec.expirationSeconds", std::to_string(seconds),
                                   "may not specify a duration less than 10 minutes"));
  }
  if (seconds > kMaxSeconds) {
    errors.push_back(meta::Invalid("spec.expirationSeconds", std::to_string(seconds),
                                   "may not specify a duration larger than 2^32 seconds"));
  }
  return errors;
}

registry::Action TokenRequestAction(TokenIssuer issuer, ReadObject read, const Clock* clock) {
  const auto shared = std::make_shared<const TokenIssuer>(std::move(issuer));
  return [shared, read = std::move(read), clock](meta::RequestContext ctx, std::string name, meta::Object body, bool) {
    return Issue(shared, read, *clock, std::move(ctx), std::move(name), std::move(body));
  };
}

}  // namespace apimesh::core_api
