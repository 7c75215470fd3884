#include "services/console/session/login.h"

#include <boost/json/parse.hpp>

#include "lib/base/secrets/wiping_memory.h"
#include "lib/meta/object.h"

namespace apimesh::console {
namespace {

constexpr std::chrono::seconds kCheckTimeout{10};
constexpr std::string_view kReview =
    R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","metadata":{}})";

std::optional<OneTimeSecrets> SecretsIn(const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  return OneTimeSecrets(folder, kLoginLifetime);
}

}  // namespace

Login::Login(const std::string& folder, std::shared_ptr<const Identities> identities, const Clock& clock)
    : secrets_(SecretsIn(folder)), identities_(std::move(identities)), clock_(clock) {}

Task<meta::Result<IdentityPtr>> Login::Run(std::string document) const {
  const WipeAtEnd wipe(document);
  boost::system::error_code error;
  boost::json::parse_options options;
  options.max_depth = 2;
  const boost::json::value value = boost::json::parse(document, error, WipingMemory::New(), options);
  if (error || !value.is_object()) co_return meta::BadRequest("a login is a JSON object");
  const std::string_view secret = meta::FindString(value.get_object(), "secret");
  if (!secret.empty()) co_return WithSecret(secret);
  std::string token(meta::FindString(value.get_object(), "token"));
  meta::Result<IdentityPtr> identity = co_await WithToken(std::move(token));
  co_return identity;
}

meta::Result<IdentityPtr> Login::WithSecret(std::string_view secret) const {
  if (!secrets_ || !secrets_->Redeem(secret, clock_.Now())) {
    return meta::Unauthorized("this login was used already or has expired; `apimesh console` prints a new one");
  }
  return identities_->OfKubeconfig();
}

Task<meta::Result<IdentityPtr>> Login::WithToken(std::string token) const {
  const WipeAtEnd wipe(token);
  ASSIGN_OR_CO_RETURN(IdentityPtr identity, identities_->OfToken(token));
  http::Headers headers = identity->headers;
  headers.emplace_back("content-type", "application/json");
  auto answer =
      co_await identity->client->Do("POST", identity->server + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                    std::move(headers), std::string(kReview), clock_.Steady() + kCheckTimeout);
  if (!answer) co_return meta::ServiceUnavailable("the API server is not reachable: " + answer.error().message);
  // Other codes, such as 403 and 429, are given to users that are authenticated.
  if (answer->code == 401) co_return meta::Unauthorized("the API server does not accept this token");
  if (answer->code >= 500) co_return meta::ServiceUnavailable("the API server could not check this token");
  co_return identity;
}

}  // namespace apimesh::console
