#include "services/core-api/groups/authentication/reviews.h"

#include "lib/base/clock.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

json::array Array(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

std::vector<std::string> AudiencesOf(const json::object& review) {
  std::vector<std::string> audiences;
  const json::value* found = meta::Find(review, "spec", "audiences");
  if (!found || !found->is_array()) return audiences;
  for (const json::value& item : found->get_array()) {
    if (item.is_string()) audiences.emplace_back(std::string_view(item.get_string()));
  }
  return audiences;
}

constexpr std::size_t kMostAudiences = 1000;

Task<meta::Result<meta::Object>> ReviewToken(service::AuthClientPtr auth, meta::RequestContext ctx, meta::Object body) {
  std::string token(meta::FindString(body.Root(), "spec", "token"));
  if (token.empty()) co_return meta::BadRequest("token is required for TokenReview in authentication");
  std::vector<std::string> audiences = AudiencesOf(body.Root());
  if (audiences.size() > kMostAudiences)
    co_return meta::BadRequest(fmt::format("a TokenReview has more than {} audiences", kMostAudiences));
  ASSIGN_OR_CO_RETURN(const service::TokenIdentity identity,
                      co_await auth->ReviewToken(std::move(token), std::move(audiences), ctx.Deadline()));
  json::object status;
  if (identity.authenticated) {
    status["authenticated"] = true;
    status["user"] = UserJson(identity.user);
    if (!identity.audiences.empty()) status["audiences"] = Array(identity.audiences);
  } else {
    status["user"].emplace_object();
    if (!identity.error.empty()) status["error"] = identity.error;
  }
  body.Root()["status"] = std::move(status);
  co_return body;
}

Task<meta::Result<meta::Object>> ReviewSelf(const Clock& clock, meta::RequestContext ctx, meta::Object body) {
  // The response has nothing of the metadata that the client sent.
  body.Root()["metadata"] = {{"creationTimestamp", meta::FormatTime(clock.Now())}};
  body.Root()["status"] = {{"userInfo", UserJson(ctx.User())}};
  co_return body;
}

}  // namespace

json::object UserJson(const meta::UserInfo& user) {
  json::object object;
  if (!user.name.empty()) object["username"] = user.name;
  if (!user.uid.empty()) object["uid"] = user.uid;
  if (!user.groups.empty()) object["groups"] = Array(user.groups);
  for (const auto& [key, values] : user.extra) meta::MakeObject(object, "extra")[key] = Array(values);
  return object;
}

registry::Resource TokenReviewResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("authentication.k8s.io", "v1", "tokenreviews");
  resource.create = [auth = inputs.auth](meta::RequestContext ctx, std::string, meta::Object body, bool) {
    return ReviewToken(auth, std::move(ctx), std::move(body));
  };
  return resource;
}

registry::Resource SelfSubjectReviewResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("authentication.k8s.io", "v1", "selfsubjectreviews");
  resource.create = [clock = inputs.clock](meta::RequestContext ctx, std::string, meta::Object body, bool) {
    return ReviewSelf(*clock, std::move(ctx), std::move(body));
  };
  return resource;
}

}  // namespace apimesh::core_api
