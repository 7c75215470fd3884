#include "services/authn-authz/authorizers/webhook/match_conditions.h"

#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {
namespace {

// Adds absent attributes with empty values, because expressions may use every attribute.
boost::json::value ForExpressions(const boost::json::object& spec) {
  boost::json::object out = spec;
  out.emplace("user", "");
  out.emplace("uid", "");
  out.emplace("groups", boost::json::array());
  out.emplace("extra", boost::json::object());
  if (boost::json::value* attributes = out.if_contains("resourceAttributes")) {
    for (const char* field : {"namespace", "verb", "group", "version", "resource", "subresource", "name"})
      attributes->get_object().emplace(field, "");
  }
  if (boost::json::value* attributes = out.if_contains("nonResourceAttributes")) {
    for (const char* field : {"path", "verb"}) attributes->get_object().emplace(field, "");
  }
  return out;
}

}  // namespace

MatchConditions::MatchConditions(std::vector<cel::Program> programs, const std::string& webhook_name,
                                 service::Metrics* metrics)
    : programs_(std::move(programs)), name_(webhook_name), metrics_(metrics) {}

void MatchConditions::Count(const char* metric, const char* help) const {
  if (metrics_) metrics_->GetCounter(metric, help, {{"type", "Webhook"}, {"name", name_}}).Add();
}

MatchConditions::Result MatchConditions::Match(const boost::json::object& spec) const {
  if (programs_.empty()) return {true, ""};
  const boost::json::value request = ForExpressions(spec);
  cel::Evaluation evaluation;
  const cel::Value variables[] = {cel::Value::FromJson(request, evaluation.arena)};
  std::vector<std::string> errors;
  for (const cel::Program& program : programs_) {
    const cel::Value value = program.Evaluate(variables, evaluation);
    if (value.Is(cel::Value::Kind::kBool) && !value.AsBool()) {
      Count("apiserver_authorization_match_condition_exclusions_total", "Requests that a webhook was not asked about.");
      return {false, ""};
    }
    if (!value.Is(cel::Value::Kind::kBool)) {
      errors.push_back(fmt::format("cel evaluation error: expression '{}' resulted in error: {}", program.Source(),
                                   value.IsError() ? value.AsString() : "not a bool"));
    }
  }
  if (errors.empty()) return {true, ""};
  Count("apiserver_authorization_match_condition_evaluation_errors_total", "Match conditions that failed.");
  return {false, JoinErrors(errors)};
}

}  // namespace apimesh::authn_authz
