#include "services/authn-authz/authenticators/webhook/webhook.h"

#include "lib/meta/object.h"
#include "services/authn-authz/authenticators/token_cache/token_cache.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

constexpr auto kTimeout = std::chrono::seconds(10);

std::vector<std::string> Strings(const boost::json::value* value) {
  std::vector<std::string> out;
  if (!value || !value->is_array()) return out;
  for (const boost::json::value& item : value->get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string());
  }
  return out;
}

class TokenWebhook final : public TokenAuthenticator {
 public:
  TokenWebhook(std::unique_ptr<service::ReviewClient> client, std::string version,
               std::vector<std::string> api_audiences, const Clock& clock)
      : client_(std::move(client)),
        version_(std::move(version)),
        api_audiences_(std::move(api_audiences)),
        clock_(clock) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    boost::json::object review, spec;
    review["kind"] = "TokenReview";
    review["apiVersion"] = "authentication.k8s.io/" + version_;
    review["metadata"].emplace_object();
    spec["token"] = question->token;
    if (!question->audiences.empty()) {
      spec["audiences"] = boost::json::array(question->audiences.begin(), question->audiences.end());
    }
    review["spec"] = std::move(spec);
    std::string body = boost::json::serialize(review);
    ASSIGN_OR_CO_RETURN(const boost::json::object answered,
                        co_await client_->Review(std::move(body), clock_.Steady() + kTimeout));
    static const boost::json::object none;
    const boost::json::value* found = meta::FindField(answered, "status");
    const boost::json::object& status = found && found->is_object() ? found->get_object() : none;

    Authenticated answer;
    if (!question->audiences.empty()) {
      std::vector<std::string> said = Strings(meta::FindField(status, "audiences"));
      answer.audiences = IntersectAudiences(said.empty() ? api_audiences_ : said, question->audiences);
      if (answer.audiences.empty()) co_return std::optional<Authenticated>();
    }
    const boost::json::value* authenticated = meta::FindField(status, "authenticated");
    if (!authenticated || !authenticated->is_bool() || !authenticated->get_bool()) {
      const std::string_view error = meta::FindString(status, "error");
      if (!error.empty()) co_return BadCredential(error);
      co_return std::optional<Authenticated>();
    }
    const boost::json::value* user = meta::FindField(status, "user");
    if (user && user->is_object()) ReadUser(user->get_object(), answer.user);
    co_return std::optional(std::move(answer));
  }

 private:
  static void ReadUser(const boost::json::object& from, meta::UserInfo& user) {
    user.name = meta::FindString(from, "username");
    user.uid = meta::FindString(from, "uid");
    user.groups = Strings(meta::FindField(from, "groups"));
    const boost::json::value* extra = meta::FindField(from, "extra");
    if (!extra || !extra->is_object()) return;
    for (const auto& [key, values] : extra->get_object()) user.extra[std::string(key)] = Strings(&values);
  }

  const std::unique_ptr<service::ReviewClient> client_;
  const std::string version_;
  const std::vector<std::string> api_audiences_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> NewTokenWebhook(std::unique_ptr<service::ReviewClient> client, std::string version,
                                                    std::vector<std::string> api_audiences, const Clock& clock) {
  return std::make_unique<TokenWebhook>(std::move(client), std::move(version), std::move(api_audiences), clock);
}

std::unique_ptr<TokenAuthenticator> MakeTokenWebhook(const AuthenticatorInputs& inputs) {
  const TokenWebhookFlags& flags = inputs.Get<TokenWebhookFlags>();
  if (flags.config_file.empty()) return nullptr;
  if (flags.version != "v1" && flags.version != "v1beta1") {
    throw std::runtime_error("--authentication-token-webhook-version: must be v1 or v1beta1");
  }
  auto client = service::NewReviewClient(
      OrThrow(service::ReadKubeconfig(flags.config_file), "authentication-token-webhook-config-file"), inputs.clock);
  auto webhook = NewTokenWebhook(std::move(client), flags.version, inputs.audiences, inputs.clock);
  // This cache is in addition to the short-lived cache of all tokens, because a webhook costs a round trip.
  const TokenCache::Options ttl{.success = flags.cache_ttl, .failure = flags.cache_ttl, .keep_errors = false};
  return std::make_unique<TokenCache>(std::move(webhook), ttl, inputs.clock);
}

}  // namespace apimesh::authn_authz
