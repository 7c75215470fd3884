#include "lib/admission/plugins/mutating_admission_policy/policy_errors.h"

#include <fmt/format.h>

namespace apimesh::admission::mutating_policy {
namespace {

std::string TextOf(const policies::Policy& policy, const policies::Binding* binding, std::string_view error) {
  if (!binding) return fmt::format("policy {} denied request: {}", meta::Quoted(policy.name), error);
  return fmt::format("policy '{}' with binding '{}' denied request: {}", policy.name, binding->name, error);
}

}  // namespace

void PolicyErrors::AddConfigurationError(const policies::Policy& policy, const policies::Binding* binding,
                                         const meta::ApiError& error) {
  if (policy.ignores_failures) return;
  configuration_.push_back(TextOf(
      policy, binding, fmt::format("failed to configure {}: {}", binding ? "binding" : "policy", error.Message())));
}

void PolicyErrors::Add(const policies::Policy& policy, const policies::Binding& binding, const std::string& error) {
  if (!policy.ignores_failures) evaluation_.push_back(TextOf(policy, &binding, error));
}

meta::Result<> PolicyErrors::Result(const Attributes& attributes) const {
  if (configuration_.empty() && evaluation_.empty()) return {};
  meta::ApiError::Data data = Forbidden(attributes, "").Get();
  data.message = configuration_.empty() ? evaluation_.front() : configuration_.front();
  // As in kube-apiserver, the code stays 403.
  if (configuration_.empty()) data.reason = meta::Reason::kInvalid;
  for (const std::string& message : configuration_) data.causes.push_back({"", message, ""});
  for (const std::string& message : evaluation_) data.causes.push_back({"", message, ""});
  return meta::ApiError(std::move(data));
}

}  // namespace apimesh::admission::mutating_policy
