#include "services/core-api/groups/authorization/access_reviews.h"

#include "services/core-api/groups/authorization/review_selectors.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::object& Part(const json::object& object, std::string_view name) {
  static const json::object kNone;
  const json::value* found = meta::FindField(object, name);
  return found && found->is_object() ? found->get_object() : kNone;
}
bool Has(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  return found && found->is_object();
}

std::vector<std::string> Texts(const json::value* found) {
  std::vector<std::string> texts;
  if (!found || !found->is_array()) return texts;
  texts.reserve(found->get_array().size());
  for (const json::value& item : found->get_array()) {
    if (item.is_string()) texts.emplace_back(std::string_view(item.get_string()));
  }
  return texts;
}
std::vector<std::string> Texts(const json::object& object, std::string_view name) {
  return Texts(meta::FindField(object, name));
}

meta::UserInfo SubjectOf(const json::object& spec) {
  meta::UserInfo user;
  user.name = meta::FindString(spec, "user");
  user.uid = meta::FindString(spec, "uid");
  user.groups = Texts(spec, "groups");
  for (const auto& [key, value] : Part(spec, "extra")) {
    user.extra.insert_or_assign(user.extra.end(), std::string(key), Texts(&value));  // the keys are sorted
  }
  return user;
}

// Formats the attributes as kube-apiserver's messages do, with the names of its internal fields.
std::string ShownAttributes(const json::object& attributes) {
  const json::object shown{{"Path", meta::FindString(attributes, "path")},
                           {"Verb", meta::FindString(attributes, "verb")}};
  return json::serialize(shown);
}

json::object StatusOf(const service::AccessDecision& decision) {
  json::object status{{"allowed", decision.allowed}};
  if (decision.denied) status["denied"] = true;
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  if (!decision.error.empty()) status["evaluationError"] = decision.error;
  return status;
}

json::array Array(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

std::size_t SizeOf(const json::object& object, std::string_view field) {
  const json::value* found = meta::FindField(object, field);
  return found && found->is_array() ? found->get_array().size() : 0;
}

/// Refuses questions that take long to send and to decide: authn-authz makes the decisions about all requests on one
/// thread.
meta::Result<> CheckSize(const json::object& spec) {
  constexpr std::size_t kMostRights = 1000;  // as for impersonated users
  std::size_t rights = SizeOf(spec, "groups");
  for (const auto& [key, values] : Part(spec, "extra"))
    rights += 1 + (values.is_array() ? values.get_array().size() : 0);
  if (rights > kMostRights)
    return meta::BadRequest(fmt::format("an access review has more than {} groups and extra values", kMostRights));
  return CheckSelectorSize(Part(spec, "resourceAttributes"));
}

Task<meta::Result<meta::Object>> Review(service::AuthClientPtr auth, ReviewKind kind, meta::RequestContext ctx,
                                        meta::Object body) {
  CO_RETURN_IF_ERROR(CheckSize(Part(body.Root(), "spec")));
  const meta::FieldErrors errors = ValidateReview(body, kind);
  // kube-apiserver names no kind here.
  if (!errors.empty()) co_return meta::Invalid(meta::GroupKind{body.GetGvk().group, ""}, "", errors);
  const json::object& spec = Part(body.Root(), "spec");
  service::AccessQuestion question = QuestionOf(spec, kind == ReviewKind::kSelf ? ctx.User() : SubjectOf(spec));
  const std::string ignored = ReadSelectors(Part(spec, "resourceAttributes"), question);
  ASSIGN_OR_CO_RETURN(service::AccessDecision decision, co_await auth->Authorize(std::move(question), ctx.Deadline()));
  if (!ignored.empty()) decision.error += (decision.error.empty() ? "" : "; ") + ignored;
  body.Root()["status"] = StatusOf(decision);
  co_return body;
}

Task<meta::Result<meta::Object>> ReviewRules(service::AuthClientPtr auth, meta::RequestContext ctx, meta::Object body) {
  std::string ns(meta::FindString(body.Root(), "spec", "namespace"));
  if (ns.empty()) co_return meta::BadRequest("no namespace on request");
  ASSIGN_OR_CO_RETURN(const service::AccessRules rules,
                      co_await auth->Rules(ctx.User(), std::move(ns), ctx.Deadline()));
  json::array resources, others;
  for (const service::AccessRules::Resource& rule : rules.resources) {
    json::object one{
        {"verbs", Array(rule.verbs)}, {"apiGroups", Array(rule.groups)}, {"resources", Array(rule.resources)}};
    if (!rule.names.empty()) one["resourceNames"] = Array(rule.names);
    resources.push_back(std::move(one));
  }
  for (const service::AccessRules::NonResource& rule : rules.non_resources) {
    others.push_back(json::object{{"verbs", Array(rule.verbs)}, {"nonResourceURLs", Array(rule.paths)}});
  }
  json::object status{{"resourceRules", std::move(resources)},
                      {"nonResourceRules", std::move(others)},
                      {"incomplete", rules.incomplete}};
  if (!rules.error.empty()) status["evaluationError"] = rules.error;
  // The response has only the status.
  body.Root()["metadata"].emplace_object();
  body.Root()["spec"].emplace_object();
  body.Root()["status"] = std::move(status);
  co_return body;
}

registry::Resource MakeReview(std::string_view plural, ReviewKind kind, const KindInputs& inputs) {
  registry::Resource resource = FromTable("authorization.k8s.io", "v1", plural);
  resource.create = [auth = inputs.auth, kind](meta::RequestContext ctx, std::string, meta::Object body, bool) {
    return Review(auth, kind, std::move(ctx), std::move(body));
  };
  return resource;
}

}  // namespace

service::AccessQuestion QuestionOf(const json::object& spec, meta::UserInfo user) {
  service::AccessQuestion question;
  question.user = std::move(user);
  if (Has(spec, "nonResourceAttributes")) {
    const json::object& attributes = Part(spec, "nonResourceAttributes");
    question.info.path = meta::FindString(attributes, "path");
    question.info.verb = meta::FindString(attributes, "verb");
    return question;
  }
  const json::object& attributes = Part(spec, "resourceAttributes");
  meta::RequestInfo& info = question.info;
  info.is_resource_request = true;
  info.verb = meta::FindString(attributes, "verb");
  info.api_group = meta::FindString(attributes, "group");
  info.api_version = meta::FindString(attributes, "version");
  if (info.api_version.empty()) info.api_version = "*";
  info.ns = meta::FindString(attributes, "namespace");
  info.resource = meta::FindString(attributes, "resource");
  info.subresource = meta::FindString(attributes, "subresource");
  info.name = meta::FindString(attributes, "name");
  return question;
}

meta::FieldErrors ValidateReview(const meta::Object& review, ReviewKind kind) {
  meta::FieldErrors errors;
  const json::object& spec = Part(review.Root(), "spec");
  const bool resource = Has(spec, "resourceAttributes"), path = Has(spec, "nonResourceAttributes");
  if (resource && path) {
    errors.push_back(meta::Invalid("spec.nonResourceAttributes", ShownAttributes(Part(spec, "nonResourceAttributes")),
                                   "cannot be specified in combination with resourceAttributes"));
  }
  if (!resource && !path) {
    errors.push_back(meta::Invalid("spec.resourceAttributes", "null",
                                   "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (kind != ReviewKind::kSelf && meta::FindString(spec, "user").empty() && Texts(spec, "groups").empty()) {
    errors.push_back(meta::Invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
  }
  for (meta::FieldError& error : ValidateSelectors(Part(spec, "resourceAttributes")))
    errors.push_back(std::move(error));
  if (kind != ReviewKind::kLocal) return errors;
  const std::string_view ns = meta::FindString(spec, "resourceAttributes", "namespace");
  if (resource && ns != review.Namespace()) {
    errors.push_back(
        meta::Invalid("spec.resourceAttributes.namespace", fmt::format("\"{}\"", ns), "must match metadata.namespace"));
  }
  if (path)
    errors.push_back(meta::Invalid("spec.nonResourceAttributes", ShownAttributes(Part(spec, "nonResourceAttributes")),
                                   "disallowed on this kind of request"));
  return errors;
}

registry::Resource SubjectAccessReviewResource(const KindInputs& inputs) {
  return MakeReview("subjectaccessreviews", ReviewKind::kSubject, inputs);
}

registry::Resource LocalSubjectAccessReviewResource(const KindInputs& inputs) {
  return MakeReview("localsubjectaccessreviews", ReviewKind::kLocal, inputs);
}

registry::Resource SelfSubjectAccessReviewResource(const KindInputs& inputs) {
  return MakeReview("selfsubjectaccessreviews", ReviewKind::kSelf, inputs);
}

registry::Resource SelfSubjectRulesReviewResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("authorization.k8s.io", "v1", "selfsubjectrulesreviews");
  resource.create = [auth = inputs.auth](meta::RequestContext ctx, std::string, meta::Object body, bool) {
    return ReviewRules(auth, std::move(ctx), std::move(body));
  };
  return resource;
}

}  // namespace apimesh::core_api
