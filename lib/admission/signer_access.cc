#include "lib/admission/signer_access.h"

#include "lib/base/log.h"

namespace apimesh::admission {
namespace {

/// Returns whether the authorizer allows the verb.
Task<bool> MayOn(service::AuthClientPtr authorizer, meta::RequestContext ctx, std::string verb, std::string name) {
  if (!authorizer) co_return false;
  service::AccessQuestion question;
  question.user = ctx.User();
  question.info.is_resource_request = true;
  question.info.verb = verb;
  question.info.api_prefix = "apis";
  question.info.api_group = "certificates.k8s.io";
  question.info.api_version = "*";
  question.info.resource = "signers";
  question.info.name = std::move(name);
  const meta::Result<service::AccessDecision> decision =
      co_await authorizer->Authorize(std::move(question), ctx.Deadline());
  if (!decision) log::Warning("cannot ask whether a user has a right on a signer: {}", decision.error().Message());
  co_return decision && decision->allowed;
}

}  // namespace

Task<bool> MayUseSigner(service::AuthClientPtr authorizer, meta::RequestContext ctx, std::string verb,
                        std::string signer) {
  const bool by_name = co_await MayOn(authorizer, ctx, verb, signer);
  if (by_name) co_return true;
  std::string all_of_domain = signer.substr(0, signer.find('/')) + "/*";
  co_return co_await MayOn(authorizer, ctx, std::move(verb), std::move(all_of_domain));
}

}  // namespace apimesh::admission
