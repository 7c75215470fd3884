#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include "lib/base/clock.h"
#include "lib/meta/request/user.h"

namespace apimesh::credentials {

struct ObjectRef {
  std::string name;
  std::string uid;
  bool operator==(const ObjectRef&) const = default;
};

/// The content of a bound service-account token.
struct BoundTokenClaims {
  std::string issuer;
  std::string ns;
  ObjectRef service_account;
  std::optional<ObjectRef> pod, secret, node;  // at most one of pod and secret; node alone or together with pod
  std::vector<std::string> audiences;
  std::int64_t expiration_seconds = 3600;
  std::int64_t warn_after_seconds = 0;  // 0: the claim is omitted
  std::string id;                       // jti, a new UUID
};
/// Returns the claims in the alphabetical order of kube-apiserver.
boost::json::object ToClaims(const BoundTokenClaims& token, WallTime now);
/// Returns the claims of a token that is stored in a Secret of type kubernetes.io/service-account-token.
boost::json::object LegacyClaims(std::string_view ns, const ObjectRef& service_account, std::string_view secret_name);
constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";

/// The identity in a verified service-account token.
struct ServiceAccountIdentity {
  std::string ns, name, uid;
  std::string pod_name, pod_uid, node_name, node_uid;
  std::string token_id;  // jti; "" for legacy tokens
};
meta::UserInfo ToUser(const ServiceAccountIdentity& identity);
std::string ServiceAccountUsername(std::string_view ns, std::string_view name);
/// Returns {namespace, name}, or nullopt if `username` is not system:serviceaccount:namespace:name with valid names.
std::optional<std::pair<std::string, std::string>> SplitServiceAccountUsername(std::string_view username);

}  // namespace apimesh::credentials
