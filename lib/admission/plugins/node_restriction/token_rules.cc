#include "lib/admission/plugins/node_restriction/token_rules.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/audiences.h"
#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

namespace json = meta::json;
using meta::FindString;
using meta::Quoted;

constexpr std::string_view kAudienceVerb = "request-serviceaccounts-token-audience";

/// Returns the reference to the pod that the token is bound to.
meta::Result<json::object> PodBinding(const Attributes& attributes) {
  const json::value* found = meta::Find(attributes.object->Root(), "spec", "boundObjectRef");
  const json::object reference = found && found->is_object() ? found->get_object() : json::object();
  if (FindString(reference, "apiVersion") != "v1" || FindString(reference, "kind") != "Pod" ||
      FindString(reference, "name").empty()) {
    return Forbidden(attributes, "node requested token not bound to a pod");
  }
  if (FindString(reference, "uid").empty()) {
    return Forbidden(attributes, "node requested token with a pod binding without a uid");
  }
  return reference;
}

/// Returns the requested audience. "" means the audiences of the API server.
meta::Result<std::string> RequestedAudience(const Attributes& attributes) {
  const json::value* spec = meta::FindField(attributes.object->Root(), "spec");
  if (!spec || !spec->is_object()) return std::string();
  const json::array& audiences = ListAt(spec->get_object(), "audiences");
  if (audiences.size() > 1) return Forbidden(attributes, "node may only request 0 or 1 audiences");
  if (audiences.empty() || !audiences[0].is_string()) return std::string();
  return std::string(std::string_view(audiences[0].get_string()));
}

/// Asks the authorizer with the audience as the resource and the service account as the name, so that RBAC can have
/// rules for them.
Task<meta::Result<>> AuthorizeAudience(meta::RequestContext ctx, service::AuthClientPtr auth, std::string audience,
                                       const Attributes& attributes) {
  service::AccessDecision decision;
  if (auth) {
    service::AccessQuestion question;
    question.user = ctx.User();
    question.info.is_resource_request = true;
    question.info.verb = kAudienceVerb;
    question.info.api_version = "v1";
    question.info.ns = attributes.ns;
    question.info.resource = audience;
    question.info.name = attributes.name;
    const meta::Result<service::AccessDecision> answer = co_await auth->Authorize(std::move(question), ctx.Deadline());
    if (answer) decision = *answer;
    if (!answer) decision.error = answer.error().Message();
  }
  if (decision.allowed) co_return meta::Result<>();
  const std::string begin = fmt::format("audience {} not found in pod spec volume,", Quoted(audience));
  if (decision.error.empty()) {
    co_return Refuse(attributes, "{} {} is not authorized to request tokens for this audience", begin, ctx.User().name);
  }
  co_return Refuse(attributes, "{} error authorizing {} to request tokens for this audience: {}", begin,
                   ctx.User().name, decision.error);
}

Task<meta::Result<>> CheckAudience(meta::RequestContext ctx, const ClusterReader& reader, service::AuthClientPtr auth,
                                   const meta::Object& pod, const Attributes& attributes) {
  ASSIGN_OR_CO_RETURN(const std::string audience, RequestedAudience(attributes));
  const meta::Result<bool> asked = co_await PodAsksForAudience(ctx, reader, pod, audience);
  if (!asked) {
    co_return Refuse(attributes, "error validating audience {}: {}", Quoted(audience), asked.error().Message());
  }
  if (*asked) co_return meta::Result<>();
  co_return co_await AuthorizeAudience(ctx, std::move(auth), audience, attributes);
}

}  // namespace

Task<meta::Result<>> CheckServiceAccount(meta::RequestContext ctx, TokenRules rules, std::string node,
                                         const Attributes& attributes) {
  if (attributes.operation != Operation::kCreate || attributes.subresource != "token") co_return meta::Result<>();
  ASSIGN_OR_CO_RETURN(const json::object reference, PodBinding(attributes));
  std::string pod_name(FindString(reference, "name"));
  const meta::Result<meta::Object> pod = co_await rules.reader.Get(ctx, kPods, attributes.ns, std::move(pod_name));
  if (!pod && pod.error().Is(meta::Reason::kNotFound)) co_return pod.error();
  if (!pod) co_return Forbidden(attributes, pod.error().Message());
  if (FindString(reference, "uid") != pod->Uid()) {
    co_return Refuse(attributes,
                     "the UID in the bound object reference ({}) does not match the UID in record. The object "
                     "might have been deleted and then recreated",
                     FindString(reference, "uid"));
  }
  if (FindString(pod->Root(), "spec", "nodeName") != node) {
    co_return Forbidden(attributes, "node requested token bound to a pod scheduled on a different node");
  }
  if (!rules.checks_audiences) co_return meta::Result<>();
  co_return co_await CheckAudience(ctx, rules.reader, rules.auth, *pod, attributes);
}

}  // namespace apimesh::admission::node_restriction
