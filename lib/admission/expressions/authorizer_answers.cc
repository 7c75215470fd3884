#include "lib/admission/expressions/authorizer_answers.h"

#include "lib/meta/selectors/operator_name.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::admission {
namespace {

std::string KeyOf(const cel::AuthorizationQuestion& question) {
  std::string key;
  for (const std::string* part :
       {&question.verb, &question.path, &question.group, &question.resource, &question.subresource,
        &question.namespace_name, &question.name, &question.field_selector, &question.label_selector,
        &question.service_account_namespace, &question.service_account_name}) {
    key += std::to_string(part->size()) + ":" + *part;
  }
  return key;
}

meta::UserInfo ServiceAccount(const std::string& ns, const std::string& name) {
  return {.name = "system:serviceaccount:" + ns + ":" + name,
          .uid = "",
          .groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns},
          .extra = {}};
}

// A selector that cannot be parsed is ignored: the question is about all objects then.
void AddSelectors(const cel::AuthorizationQuestion& asked, service::AccessQuestion& out) {
  if (const auto fields = meta::FieldSelector::Parse(asked.field_selector)) {
    for (const meta::FieldSelector::Term& term : fields->Terms())
      out.fields.push_back({term.field, term.equal ? "In" : "NotIn", {term.value}});
  }
  if (const auto labels = meta::LabelSelector::Parse(asked.label_selector)) {
    for (const meta::Requirement& requirement : labels->Requirements())
      out.labels.push_back({requirement.key, std::string(meta::OperatorName(requirement.op)), requirement.values});
  }
}

service::AccessQuestion ToQuestion(const meta::RequestContext& ctx, const cel::AuthorizationQuestion& asked) {
  service::AccessQuestion out;
  out.user = asked.service_account_name.empty()
                 ? ctx.User()
                 : ServiceAccount(asked.service_account_namespace, asked.service_account_name);
  out.info.verb = asked.verb;
  out.info.path = asked.path;
  out.info.is_resource_request = asked.path.empty();
  if (!out.info.is_resource_request) return out;
  out.info.api_group = asked.group;
  out.info.api_version = "*";
  out.info.resource = asked.resource;
  out.info.subresource = asked.subresource;
  out.info.ns = asked.namespace_name;
  out.info.name = asked.name;
  AddSelectors(asked, out);
  return out;
}

cel::AuthorizationAnswer Failed(std::string error) {
  return {.allowed = false, .reason = "", .error = std::move(error), .errored = true};
}

}  // namespace

cel::AuthorizationAnswer AuthorizerAnswers::Authorize(const cel::AuthorizationQuestion& question) const {
  if (const auto found = answers_.find(KeyOf(question)); found != answers_.end()) return found->second;
  if (!open_) open_ = question;
  return {};
}

Task<void> AuthorizerAnswers::Ask(meta::RequestContext ctx) {
  const cel::AuthorizationQuestion asked = std::move(*open_);
  open_.reset();
  cel::AuthorizationAnswer answer = Failed("the authorizer is not available");
  if (auth_) {
    service::AccessQuestion question = ToQuestion(ctx, asked);
    const meta::Result<service::AccessDecision> decision =
        co_await auth_->Authorize(std::move(question), ctx.Deadline());
    if (decision) {
      answer = {decision->allowed, decision->reason, decision->error, !decision->error.empty()};
    } else {
      answer = Failed(decision.error().Message());
    }
  }
  answers_.emplace(KeyOf(asked), std::move(answer));
}

}  // namespace apimesh::admission
