#include "lib/admission/plugins/validating_admission_policy/findings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/codec/codec.h"

namespace apimesh::admission::validating_policy {
namespace {

constexpr std::size_t kMaxAnnotation = 10 * 1024;

const char* ErrorType(const Decision& decision) {
  if (decision.evaluation == Decision::Evaluation::kAdmit) return "no_error";
  if (decision.message.starts_with("compilation")) return "compile_error";
  return decision.message.starts_with("validation failed due to running out of cost budget") ? "out_of_budget"
                                                                                             : "invalid_error";
}

int CodeOf(meta::Reason reason) {
  switch (reason) {
    case meta::Reason::kForbidden: return 403;
    case meta::Reason::kUnauthorized: return 401;
    case meta::Reason::kRequestEntityTooLarge: return 413;
    default: return 422;
  }
}

const json::array& ActionsOf(const policies::Binding& binding) {
  return ListAt(SpecOf(*binding.object), "validationActions");
}

}  // namespace

void Findings::Deny(const policies::Policy& policy, const policies::Binding* binding, const Decision& decision) {
  if (!denial_.empty()) return;
  denial_ = binding ? fmt::format("ValidatingAdmissionPolicy '{}' with binding '{}' denied request: {}", policy.name,
                                  binding->name, decision.message)
                    : fmt::format("ValidatingAdmissionPolicy '{}' denied request: {}", policy.name, decision.message);
  if (decision.reason != meta::Reason::kNone) reason_ = decision.reason;
}

void Findings::AddConfigurationError(const policies::Policy& policy, const policies::Binding* binding,
                                     const meta::ApiError& error) {
  if (policy.ignores_failures) return;
  Decision decision;
  decision.message = fmt::format("failed to configure {}: {}", binding ? "binding" : "policy", error.Message());
  Deny(policy, binding, decision);
}

void Findings::Count(const policies::Policy& policy, const policies::Binding& binding, const Decision& decision,
                     const char* action) const {
  if (!metrics_) return;
  const service::Labels labels = {{"policy", policy.name},
                                  {"policy_binding", binding.name},
                                  {"error_type", ErrorType(decision)},
                                  {"enforcement_action", action}};
  metrics_
      ->GetCounter("apiserver_validating_admission_policy_check_total",
                   "Validations of admission policies that did not admit a request, by the action that was taken.",
                   labels)
      .Add();
  metrics_
      ->GetHistogram("apiserver_validating_admission_policy_check_duration_seconds",
                     "Time to evaluate one validation of an admission policy that did not admit a request.",
                     {0.0000005, 0.001, 0.01, 0.1, 1.0}, labels)
      .Observe(std::chrono::duration<double>(decision.elapsed).count());
}

void Findings::Audit(const policies::Binding& binding, std::size_t index, const Decision& decision) {
  json::object failure;
  failure.emplace("message", decision.message);
  failure.emplace("policy", meta::FindString(SpecOf(*binding.object), "policyName"));
  failure.emplace("binding", binding.name);
  failure.emplace("expressionIndex", index);
  failure.emplace("validationActions", ActionsOf(binding));
  ctx_.AddAuditAnnotation("validation.policy.admission.k8s.io/validation_failure",
                          fmt::format("[{}]", codec::WriteJson(failure)));
}

void Findings::Apply(const policies::Policy& policy, const policies::Binding& binding, std::size_t index,
                     const Decision& decision) {
  if (!decision.denies) {
    if (decision.evaluation == Decision::Evaluation::kError) Count(policy, binding, decision, "allow");
    return;
  }
  for (const json::value& action : ActionsOf(binding)) {
    const std::string_view name = action.is_string() ? std::string_view(action.get_string()) : "";
    if (name == "Deny") {
      Deny(policy, &binding, decision);
      Count(policy, binding, decision, "deny");
    } else if (name == "Audit") {
      Audit(binding, index, decision);
      Count(policy, binding, decision, "audit");
    } else if (name == "Warn") {
      ctx_.Warn(fmt::format("Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}", policy.name,
                            binding.name, decision.message));
      Count(policy, binding, decision, "warn");
    }
  }
}

void Findings::Add(const policies::Policy& policy, const policies::Binding& binding, const Validation& validation) {
  for (std::size_t i = 0; i < validation.decisions.size(); ++i) Apply(policy, binding, i, validation.decisions[i]);
  for (const Annotation& annotation : validation.annotations) {
    if (annotation.action == Annotation::Action::kPublish) {
      std::vector<std::string>& values = annotations_[annotation.key];
      std::string value = annotation.text.substr(0, kMaxAnnotation);
      // Bindings with the same parameters compute the same value.
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    } else if (annotation.action == Annotation::Action::kError) {
      Decision decision;
      decision.denies = true;
      decision.evaluation = Decision::Evaluation::kError;
      decision.message = annotation.text;
      decision.elapsed = annotation.elapsed;
      Deny(policy, &binding, decision);
      Count(policy, binding, decision, "deny");
    }
  }
}

void Findings::EndPolicy(const policies::Policy& policy) {
  for (const auto& [key, values] : annotations_)
    ctx_.AddAuditAnnotation(fmt::format("{}/{}", policy.name, key), fmt::format("{}", fmt::join(values, ", ")));
  annotations_.clear();
}

meta::Result<> Findings::Result() const {
  if (denial_.empty()) return {};
  meta::ApiError::Data data = Forbidden(attributes_, denial_).Get();
  data.reason = reason_;
  data.code = CodeOf(reason_);
  data.causes.push_back({"", denial_, ""});
  return meta::ApiError(std::move(data));
}

}  // namespace apimesh::admission::validating_policy
