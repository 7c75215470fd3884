#include "lib/service/authorize_create.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/errors/forbidden.h"

namespace apimesh::service {
namespace {

constexpr const char* kUnsafeDelete = "unsafe-delete-ignore-read-errors";

/// Authorizes the request with another verb.
Task<meta::Result<AccessDecision>> Ask(AuthClientPtr auth, meta::RequestContext ctx, meta::RequestVerb verb) {
  const std::vector<std::string>& groups = ctx.User().groups;
  AccessDecision decision;
  // system:masters may do everything, and the start of the server must not wait for authn-authz.
  decision.allowed = std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
  if (decision.allowed) co_return decision;
  AccessQuestion question;
  question.user = ctx.User();
  question.info = ctx.Info();
  question.info.verb = std::move(verb);
  co_return co_await auth->Authorize(std::move(question), ctx.Deadline());
}

Task<meta::Result<>> AuthorizeCreate(AuthClientPtr auth, meta::RequestContext ctx) {
  ASSIGN_OR_CO_RETURN(const AccessDecision decision, co_await Ask(std::move(auth), ctx, meta::Verb::kCreate));
  if (decision.allowed) co_return meta::Result<>();
  meta::RequestInfo creation = ctx.Info();
  creation.verb = meta::Verb::kCreate;
  co_return meta::ForbiddenTo(ctx.User().name, creation, decision.reason);
}

Task<meta::Result<>> AuthorizeUnsafeDelete(AuthClientPtr auth, meta::RequestContext ctx) {
  ASSIGN_OR_CO_RETURN(const AccessDecision decision, co_await Ask(std::move(auth), ctx, kUnsafeDelete));
  if (decision.allowed) co_return meta::Result<>();
  const meta::RequestInfo& info = ctx.Info();
  co_return meta::Forbidden(meta::GroupResource{info.api_group, info.resource}, info.name,
                            fmt::format("not permitted to do \"{}\", reason: {}", kUnsafeDelete, decision.reason));
}

}  // namespace

std::function<Task<meta::Result<>>(meta::RequestContext ctx)> CreateAuthorizer(AuthClientPtr auth) {
  return [auth = std::move(auth)](meta::RequestContext ctx) { return AuthorizeCreate(auth, std::move(ctx)); };
}

std::function<Task<meta::Result<>>(meta::RequestContext ctx)> UnsafeDeleteAuthorizer(AuthClientPtr auth) {
  return [auth = std::move(auth)](meta::RequestContext ctx) { return AuthorizeUnsafeDelete(auth, std::move(ctx)); };
}

}  // namespace apimesh::service
