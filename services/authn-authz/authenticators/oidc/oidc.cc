#include "services/authn-authz/authenticators/oidc/oidc.h"

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authenticators/oidc/claim_mapper.h"

namespace apimesh::authn_authz {
namespace {

constexpr double kNotBeforeLeeway = 300;

// Tokens of Google may name their issuer without the scheme.
std::string_view IssuerOf(const credentials::Jwt& jwt) {
  return jwt.Issuer() == "accounts.google.com" ? "https://accounts.google.com" : jwt.Issuer();
}

std::optional<double> Number(const boost::json::object& claims, std::string_view name) {
  const boost::json::value* value = meta::FindField(claims, name);
  return value && value->is_number() ? std::optional(value->to_number<double>()) : std::nullopt;
}

std::string QuotedList(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(meta::Quoted(value));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

class Oidc final : public TokenAuthenticator {
 public:
  Oidc(OidcOptions options, std::shared_ptr<KeySet> keys, const Clock& clock)
      : options_(std::move(options)), keys_(std::move(keys)), clock_(clock) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    std::optional<credentials::Jwt> parsed = credentials::Jwt::Parse(question->token);
    if (!parsed || IssuerOf(*parsed) != options_.issuer_url) co_return std::optional<Authenticated>();
    const auto jwt = std::make_shared<const credentials::Jwt>(std::move(*parsed));
    CO_RETURN_IF_ERROR(CheckClaims(*jwt));
    const auto verified = co_await keys_->Verifies(jwt);
    if (!verified) co_return BadCredential("oidc: authenticator not initialized");
    if (!*verified) co_return BadCredential("oidc: verify token: failed to verify signature");

    Authenticated answer;
    answer.expires = WallTime(std::chrono::seconds(static_cast<std::int64_t>(*Number(jwt->Claims(), "exp"))));
    ASSIGN_OR_CO_RETURN(answer.user, MapClaims(options_, jwt->Claims()));
    co_return std::optional(std::move(answer));
  }

 private:
  meta::Result<> CheckClaims(const credentials::Jwt& jwt) const {
    const auto& algorithms = options_.algorithms;
    if (std::find(algorithms.begin(), algorithms.end(), jwt.GetAlgorithm()) == algorithms.end()) {
      return BadCredential(fmt::format("oidc: verify token: oidc: id token signed with unsupported algorithm {}",
                                       credentials::AlgorithmName(jwt.GetAlgorithm())));
    }
    const auto audiences = jwt.Audiences();
    if (!audiences) return BadCredential("oidc: verify token: malformed audience");
    if (IntersectAudiences(*audiences, options_.audiences).empty()) {
      return BadCredential(fmt::format("oidc: verify token: oidc: expected audience in {} got {}",
                                       QuotedList(options_.audiences), QuotedList(*audiences)));
    }
    const double now = std::chrono::duration<double>(clock_.Now().time_since_epoch()).count();
    const auto expiry = Number(jwt.Claims(), "exp"), not_before = Number(jwt.Claims(), "nbf");
    if (!expiry || *expiry < now || *expiry > 9e9) return BadCredential("oidc: verify token: oidc: token is expired");
    if (not_before && now + kNotBeforeLeeway < *not_before) {
      return BadCredential("oidc: verify token: oidc: current time before the nbf (not before) time");
    }
    return {};
  }

  const OidcOptions options_;
  const std::shared_ptr<KeySet> keys_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> NewOidc(OidcOptions options, std::shared_ptr<KeySet> keys, const Clock& clock) {
  return std::make_unique<Oidc>(std::move(options), std::move(keys), clock);
}

}  // namespace apimesh::authn_authz
