#include "lib/credentials/service_account_token.h"

#include <boost/json/array.hpp>

namespace apimesh::credentials {
namespace {

constexpr std::string_view kUserPrefix = "system:serviceaccount:";

boost::json::object Ref(const ObjectRef& ref) {
  boost::json::object out;
  out["name"] = ref.name;
  if (!ref.uid.empty()) out["uid"] = ref.uid;
  return out;
}

bool IsLabel(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const bool edges = !part.empty() && part.front() != '-' && part.back() != '-';
    if (!edges || !std::all_of(part.begin(), part.end(),
                               [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; })) {
      return false;
    }
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

boost::json::object ToClaims(const BoundTokenClaims& token, WallTime now) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  boost::json::object kubernetes;
  kubernetes["namespace"] = token.ns;
  if (token.node) kubernetes["node"] = Ref(*token.node);
  if (token.pod) kubernetes["pod"] = Ref(*token.pod);
  if (token.secret) kubernetes["secret"] = Ref(*token.secret);
  kubernetes["serviceaccount"] = Ref(token.service_account);
  if (token.warn_after_seconds != 0) kubernetes["warnafter"] = seconds + token.warn_after_seconds;

  boost::json::object claims;
  claims["aud"] = boost::json::array(token.audiences.begin(), token.audiences.end());
  claims["exp"] = seconds + token.expiration_seconds;
  claims["iat"] = seconds;
  claims["iss"] = token.issuer;
  if (!token.id.empty()) claims["jti"] = token.id;
  claims["kubernetes.io"] = std::move(kubernetes);
  claims["nbf"] = seconds;
  claims["sub"] = ServiceAccountUsername(token.ns, token.service_account.name);
  return claims;
}

boost::json::object LegacyClaims(std::string_view ns, const ObjectRef& service_account, std::string_view secret_name) {
  boost::json::object claims;
  claims["iss"] = std::string(kLegacyIssuer);
  claims["kubernetes.io/serviceaccount/namespace"] = std::string(ns);
  claims["kubernetes.io/serviceaccount/secret.name"] = std::string(secret_name);
  claims["kubernetes.io/serviceaccount/service-account.name"] = service_account.name;
  claims["kubernetes.io/serviceaccount/service-account.uid"] = service_account.uid;
  claims["sub"] = ServiceAccountUsername(ns, service_account.name);
  return claims;
}

meta::UserInfo ToUser(const ServiceAccountIdentity& identity) {
  meta::UserInfo user;
  user.name = ServiceAccountUsername(identity.ns, identity.name);
  user.uid = identity.uid;
  user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + identity.ns};
  if (!identity.pod_name.empty() && !identity.pod_uid.empty()) {
    user.extra["authentication.kubernetes.io/pod-name"] = {identity.pod_name};
    user.extra["authentication.kubernetes.io/pod-uid"] = {identity.pod_uid};
  }
  if (!identity.token_id.empty()) {
    user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + identity.token_id};
  }
  if (!identity.node_name.empty()) {
    user.extra["authentication.kubernetes.io/node-name"] = {identity.node_name};
    if (!identity.node_uid.empty()) user.extra["authentication.kubernetes.io/node-uid"] = {identity.node_uid};
  }
  return user;
}

std::string ServiceAccountUsername(std::string_view ns, std::string_view name) {
  std::string username(kUserPrefix);
  return username.append(ns).append(":").append(name);
}

std::optional<std::pair<std::string, std::string>> SplitServiceAccountUsername(std::string_view username) {
  if (!username.starts_with(kUserPrefix)) return std::nullopt;
  username.remove_prefix(kUserPrefix.size());
  const std::size_t colon = username.find(':');
  if (colon == username.npos) return std::nullopt;
  const std::string_view ns = username.substr(0, colon), name = username.substr(colon + 1);
  if (!IsLabel(ns) || !IsSubdomain(name)) return std::nullopt;
  return std::pair{std::string(ns), std::string(name)};
}

}  // namespace apimesh::credentials
