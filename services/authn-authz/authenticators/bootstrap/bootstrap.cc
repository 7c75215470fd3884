#include "services/authn-authz/authenticators/bootstrap/bootstrap.h"

#include <set>

#include <openssl/crypto.h>

#include "lib/base/log.h"
#include "lib/meta/time.h"
#include "services/authn-authz/authenticators/union.h"

namespace apimesh::authn_authz {
namespace {

bool IsLowerAlnum(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// Matches system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9].
bool IsBootstrapGroup(std::string_view group) {
  constexpr std::string_view kPrefix = "system:bootstrappers:";
  if (!group.starts_with(kPrefix)) return false;
  group.remove_prefix(kPrefix.size());
  if (group.empty() || group.size() > 256 || !IsLowerAlnum(group.substr(group.size() - 1))) return false;
  return std::all_of(group.begin(), group.end(), [](char c) { return c == ':' || c == '-' || IsLowerAlnum({&c, 1}); });
}

std::optional<std::vector<std::string>> Groups(std::string_view extra) {
  std::set<std::string> groups{"system:bootstrappers"};
  while (!extra.empty()) {
    const std::size_t comma = extra.find(',');
    const std::string_view group = extra.substr(0, comma);
    if (!IsBootstrapGroup(group)) return std::nullopt;
    groups.emplace(group);
    if (comma == extra.npos) break;
    extra.remove_prefix(comma + 1);
    if (extra.empty()) return std::nullopt;
  }
  return std::vector<std::string>(groups.begin(), groups.end());
}

class BootstrapToken final : public TokenAuthenticator {
 public:
  BootstrapToken(std::shared_ptr<TokenObjects> objects, const Clock& clock)
      : objects_(std::move(objects)), clock_(clock) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override { co_return Check(question->token); }

 private:
  std::optional<Authenticated> Check(std::string_view token) const {
    constexpr std::size_t kIdSize = 6, kSecretSize = 16;
    if (token.size() != kIdSize + 1 + kSecretSize || token[kIdSize] != '.') return std::nullopt;
    const std::string id(token.substr(0, kIdSize));
    const std::string_view secret = token.substr(kIdSize + 1);
    if (!IsLowerAlnum(id) || !IsLowerAlnum(secret)) return std::nullopt;

    const std::string name = "bootstrap-token-" + id;
    const auto object = objects_->GetCached(TokenObjectKind::kSecret, "kube-system", name);
    if (!object) return std::nullopt;
    const auto data = [&](const char* key) -> std::string_view {
      const auto it = object->data.find(key);
      return it == object->data.end() ? std::string_view() : std::string_view(it->second);
    };
    const auto refuse = [&](std::string_view why) {
      log::Debug("Bootstrap secret kube-system/{} matching bearer token {}", name, why);
      return std::nullopt;
    };
    if (object->deleted_at) return refuse("is deleted and awaiting removal");
    if (object->type != "bootstrap.kubernetes.io/token") return refuse("has invalid type");
    if (!SameSecret(data("token-secret"), secret)) return refuse("has invalid value for key token-secret");
    if (data("token-id") != id) return refuse("has invalid value for key token-id");
    Authenticated answer;
    if (const std::string_view expiration = data("expiration"); !expiration.empty()) {
      const std::optional<WallTime> end = meta::ParseTime(expiration);
      if (!end || *end <= clock_.Now()) return refuse("has expired");
      answer.expires = *end;
    }
    if (data("usage-bootstrap-authentication") != "true")
      return refuse("not marked usage-bootstrap-authentication=true");
    std::optional<std::vector<std::string>> groups = Groups(data("auth-extra-groups"));
    if (!groups) return refuse("has invalid value for key auth-extra-groups");
    answer.user.name = "system:bootstrap:" + id;
    answer.user.groups = std::move(*groups);
    objects_->NoteUse(object->uid);
    return answer;
  }

  std::shared_ptr<TokenObjects> objects_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> NewBootstrapToken(std::shared_ptr<TokenObjects> objects, const Clock& clock) {
  return std::make_unique<BootstrapToken>(std::move(objects), clock);
}

std::unique_ptr<TokenAuthenticator> MakeBootstrapToken(const AuthenticatorInputs& inputs) {
  if (!inputs.Get<BootstrapTokenFlags>().enabled) return nullptr;
  return NewAudienceAgnosticToken(inputs.audiences, NewBootstrapToken(inputs.objects, inputs.clock));
}

}  // namespace apimesh::authn_authz
