#include "lib/service/authorize_create.h"

#include <algorithm>

#include "lib/meta/forbidden.h"

namespace apimesh::service {
namespace {

Task<meta::Result<>> Authorize(AuthClientPtr auth, meta::RequestContext ctx) {
  const std::vector<std::string>& groups = ctx.User().groups;
  // They may do everything, and the server's own start must not wait for authn-authz.
  if (std::find(groups.begin(), groups.end(), "system:masters") != groups.end()) co_return meta::Result<>();
  meta::RequestInfo creation = ctx.Info();
  creation.verb = "create";
  AccessQuestion question;
  question.user = ctx.User();
  question.info = creation;
  const meta::Result<AccessDecision> decision = co_await auth->Authorize(std::move(question), ctx.Deadline());
  if (!decision) co_return decision.error();
  if (decision->allowed) co_return meta::Result<>();
  co_return meta::ForbiddenTo(ctx.User().name, creation, decision->reason);
}

}  // namespace

std::function<Task<meta::Result<>>(meta::RequestContext ctx)> CreateAuthorizer(AuthClientPtr auth) {
  return [auth = std::move(auth)](meta::RequestContext ctx) { return Authorize(auth, std::move(ctx)); };
}

}  // namespace apimesh::service
