#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/admission/expressions/authorizer_answers.h"
#include "lib/admission/expressions/expression.h"
#include "lib/admission/plugin.h"

namespace apimesh::admission {

/// What the variables of expressions refer to. Documents are read in place and must outlive the evaluation; a nullptr
/// is the value null.
struct ExpressionInputs {
  const meta::json::object* object = nullptr;
  const meta::json::object* old_object = nullptr;
  const meta::json::object* request = nullptr;  // RequestVariable(); may be nullptr if no expression uses it
  const meta::json::object* namespace_object = nullptr;
  const meta::json::object* params = nullptr;
  const AuthorizerAnswers* authorizer = nullptr;  // nullptr: the use of `authorizer` is an error
  const Attributes* attributes = nullptr;         // set with `authorizer`, for authorizer.requestResource
};

/// A composed variable of a policy: variables.`name`.
struct NamedExpression {
  std::string name;
  ExpressionPtr expression;
};

/// Evaluates expressions that share inputs and a budget. A composed variable is evaluated when an expression uses it
/// for the first time. Not thread-safe.
class Activation {
 public:
  /// The largest cost of all expressions of a policy for one binding, and of the match conditions of one object.
  static constexpr std::int64_t kBudget = 10'000'000;
  static constexpr std::int64_t kMatchConditionsBudget = 2'500'000;

  /// `evaluation` has the memory; values are valid until its arena is cleared. It must outlive this object, as must
  /// `variables`.
  Activation(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables, cel::Evaluation& evaluation,
             std::int64_t budget);
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;

  struct Outcome {
    cel::Value value;
    std::string error;  // "expression '…' resulted in error: …", "compilation error: …"
    bool Failed() const { return !error.empty(); }
  };
  /// Returns nullopt if the budget is exhausted. No other expression may be evaluated then.
  std::optional<Outcome> Evaluate(const Expression& expression);
  std::int64_t RemainingBudget() const { return budget_; }

 private:
  class Variables;

  cel::Value Variable(std::string_view name);

  cel::Evaluation& evaluation_;
  const std::vector<NamedExpression>* variables_;
  std::vector<cel::Value> computed_;  // Unset: not yet
  std::int64_t budget_;
  std::int64_t variables_cost_ = 0;  // since the last Evaluate()
  cel::Value values_[static_cast<std::size_t>(VariableIndex::kCount)];
};

/// The error of an exhausted budget.
inline constexpr std::string_view kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";

}  // namespace apimesh::admission
