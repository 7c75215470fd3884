#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"
#include "services/core-api/groups/admissionregistration/expressions.h"
#include "services/core-api/validation/check.h"

/// Rules that webhook configurations and admission policies share.
namespace apimesh::core_api {

/// Validates a rule that says which requests a webhook or a policy applies to.
void ValidateAdmissionRule(const Check& rule);
/// Validates a field with a LabelSelector. A missing field is accepted.
void ValidateSelectorOf(const Check& holder, std::string_view field);
/// Validates the field "matchConditions": at most 64 conditions with unique names and valid expressions. `params`:
/// whether they can use `params`. `stored` has the expressions of the stored object.
void ValidateMatchConditions(const Check& holder, bool params, const StoredExpressions& stored);
/// Validates a MatchResources object: the selectors and rules of a policy or a binding.
void ValidateMatchResources(const Check& resources);
/// Adds "unsupported" for each operation in the rules of a MatchResources object that a mutating policy cannot have.
/// `field` is the field of the spec with this object.
void ValidateMutatingOperations(const Check& spec, std::string_view field);
/// Validates a text that is present against a list of values. A missing field is accepted, an empty text is not.
void ValidateChoice(const Check& holder, std::string_view field, const std::vector<std::string>& values);

/// Returns the text without white space at both ends.
std::string_view Trimmed(std::string_view text);

/// Returns the warnings for a write of an object of this group.
std::vector<std::string> AdmissionWarnings(const meta::Object& object);

/// The base of the strategies of all kinds of this group: updates need a resourceVersion.
template <class Base>
class AdmissionStrategy : public Base {
 public:
  bool AllowUnconditionalUpdate() const override { return false; }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    return AdmissionWarnings(object);
  }
};

}  // namespace apimesh::core_api
