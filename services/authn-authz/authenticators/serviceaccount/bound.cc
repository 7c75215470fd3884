#include "lib/credentials/service_account_token.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authenticators/serviceaccount/signature.h"

namespace apimesh::authn_authz {
namespace {

// Tokens stay valid for this time after the object's deletionTimestamp, because clocks may differ.
constexpr auto kDeletionLeeway = std::chrono::minutes(1);

std::optional<credentials::ObjectRef> Ref(const boost::json::object& kubernetes, std::string_view field) {
  const boost::json::value* value = meta::FindField(kubernetes, field);
  if (!value || !value->is_object()) return std::nullopt;
  return credentials::ObjectRef{std::string(meta::FindString(value->get_object(), "name")),
                                std::string(meta::FindString(value->get_object(), "uid"))};
}

WallTime Expiry(const credentials::Jwt& jwt) {
  const boost::json::value* value = meta::FindField(jwt.Claims(), "exp");
  if (!value || !value->is_number()) return WallTime::max();
  return WallTime(std::chrono::seconds(static_cast<std::int64_t>(value->to_number<double>()) + 60));
}

class BoundServiceAccount final : public TokenAuthenticator {
 public:
  BoundServiceAccount(ServiceAccountOptions options, std::shared_ptr<TokenObjects> objects, const Clock& clock)
      : options_(std::move(options)), objects_(std::move(objects)), clock_(clock) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    ASSIGN_OR_CO_RETURN(std::optional<SignedToken> token,
                        co_await CheckSignature(options_, options_.issuers, question));
    if (!token) co_return std::optional<Authenticated>();
    const WallTime now = clock_.Now();
    switch (credentials::CheckTimes(token->jwt, now)) {
      case credentials::TimeCheck::kValid: break;
      case credentials::TimeCheck::kExpired: co_return BadCredential("service account token has expired");
      case credentials::TimeCheck::kNotYetValid: co_return BadCredential("service account token is not valid yet");
      case credentials::TimeCheck::kIssuedInTheFuture:
        co_return BadCredential("service account token is issued in the future");
      case credentials::TimeCheck::kMalformed:
        co_return BadCredential("service account token claims could not be validated");
    }
    static const boost::json::object none;
    const boost::json::value* claim = meta::FindField(token->jwt.Claims(), "kubernetes.io");
    const boost::json::object& kubernetes = claim && claim->is_object() ? claim->get_object() : none;
    const std::string ns(meta::FindString(kubernetes, "namespace"));
    const credentials::ObjectRef account = Ref(kubernetes, "serviceaccount").value_or(credentials::ObjectRef());
    const auto pod = Ref(kubernetes, "pod"), secret = Ref(kubernetes, "secret"), node = Ref(kubernetes, "node");

    const WallTime deleted_before = now - kDeletionLeeway;
    auto found = co_await objects_->Get(TokenObjectKind::kServiceAccount, ns, account.name);
    if (!found) co_return found.error();
    if (found->uid != account.uid) {
      co_return BadCredential(
          fmt::format("service account UID ({}) does not match claim ({})", found->uid, account.uid));
    }
    if (found->deleted_at && *found->deleted_at < deleted_before) {
      co_return BadCredential(fmt::format("service account {}/{} has been deleted", ns, account.name));
    }
    std::vector<std::string> uses{account.uid};
    if (secret) {
      CO_RETURN_IF_ERROR(co_await CheckBound(TokenObjectKind::kSecret, ns, *secret, "secret", deleted_before));
      uses.push_back(secret->uid);
    }
    if (pod) {
      CO_RETURN_IF_ERROR(co_await CheckBound(TokenObjectKind::kPod, ns, *pod, "pod", deleted_before));
      uses.push_back(pod->uid);
    }
    if (node && !pod) {
      CO_RETURN_IF_ERROR(co_await CheckBound(TokenObjectKind::kNode, "", *node, "node", deleted_before));
      uses.push_back(node->uid);
    }
    for (const std::string& uid : uses) objects_->NoteUse(uid);

    credentials::ServiceAccountIdentity identity{.ns = ns,
                                                 .name = account.name,
                                                 .uid = account.uid,
                                                 .pod_name = {},
                                                 .pod_uid = {},
                                                 .node_name = {},
                                                 .node_uid = {},
                                                 .token_id = std::string(token->jwt.Id())};
    if (pod) identity.pod_name = pod->name, identity.pod_uid = pod->uid;
    if (node) identity.node_name = node->name, identity.node_uid = node->uid;
    co_return std::optional(
        Authenticated{credentials::ToUser(identity), std::move(token->audiences), Expiry(token->jwt)});
  }

 private:
  Task<meta::Result<>> CheckBound(TokenObjectKind kind, std::string ns, credentials::ObjectRef ref,
                                  std::string_view word, WallTime deleted_before) {
    const auto object = co_await objects_->Get(kind, std::move(ns), ref.name);
    if (!object) co_return BadCredential("service account token has been invalidated");
    if (object->uid != ref.uid) {
      co_return BadCredential(fmt::format("{} UID ({}) does not match service account {} ref claim ({})", word,
                                          object->uid, word, ref.uid));
    }
    if (object->deleted_at && *object->deleted_at < deleted_before) {
      co_return BadCredential("service account token has been invalidated");
    }
    co_return meta::Result<>();
  }

  const ServiceAccountOptions options_;
  std::shared_ptr<TokenObjects> objects_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> NewBoundServiceAccount(ServiceAccountOptions options,
                                                           std::shared_ptr<TokenObjects> objects, const Clock& clock) {
  return std::make_unique<BoundServiceAccount>(std::move(options), std::move(objects), clock);
}

}  // namespace apimesh::authn_authz
