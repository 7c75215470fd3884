#pragma once

#include <functional>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/path_chain.h"
#include "lib/schema/correlation/correlation.h"
#include "services/extensions-api/validations/rule_tree.h"

namespace apimesh::extensions_api {

/// The evaluation of the rules of one object, with kube-apiserver's errors and limits.
class RuleEvaluation {
 public:
  /// The limit of the costs of all rules of an object. Each call also has a limit (cel::Evaluation::kCostLimit).
  static constexpr std::int64_t kBudget = 10'000'000;

  /// For an update, `correlation` finds the replaced values: the errors of unchanged values are passed to `warn` and do
  /// not refuse the update. Both may be null.
  RuleEvaluation(schema::Correlation* correlation, std::function<void(std::string)> warn, std::int64_t budget = kBudget)
      : correlation_(correlation), warn_(std::move(warn)), budget_(budget) {}

  /// Evaluates the rules of a custom resource. `before`: the object that it replaces; may be null.
  void CheckResource(const RuleTree& tree, const meta::json::object& resource, const meta::json::object* before);
  /// Evaluates the rules of a value without ratcheting.
  void CheckValue(const RuleTree& tree, const meta::json::value& value, const meta::json::value* before,
                  const meta::PathChain& path);

  meta::FieldErrors TakeErrors() { return std::move(errors_); }
  /// Negative after the budget or a limit was exceeded: nothing else is evaluated then.
  std::int64_t Remaining() const { return budget_; }

 private:
  /// A value and the value that it replaces. A resource itself has no `now`: it is never unchanged.
  struct Pair {
    const meta::json::value* now = nullptr;
    const meta::json::value* before = nullptr;
    const schema::Node* node = nullptr;
  };
  /// Whether errors of a value are ratcheted: it is unchanged, or it can't be correlated and the closest value around
  /// it that can be is unchanged.
  struct Ratchet {
    bool correlated = false;
    Pair current, parent;
  };
  /// The value that rules are evaluated for: an object, or any value.
  struct Subject {
    const meta::json::object* object = nullptr;
    const meta::json::value* value = nullptr;
  };

  void Check(const RuleTree& tree, const meta::json::value& value, const meta::json::value* before,
             const meta::PathChain& path, const Ratchet& ratchet);
  void CheckFields(const RuleTree& tree, const meta::json::object& object, const meta::json::object* before,
                   const meta::PathChain& path, const Ratchet& ratchet, bool root);
  void CheckItems(const RuleTree& tree, const meta::json::array& list, const meta::json::value* before,
                  const meta::PathChain& path, const Ratchet& ratchet);
  void Evaluate(const RuleTree& tree, const Subject& self, const Subject& old, const meta::PathChain& path,
                const Ratchet& ratchet);
  /// Evaluates a rule; returns false if nothing else may be evaluated.
  bool EvaluateRule(const RuleTree& tree, const RuleTree::Rule& rule, const Subject& self, const Subject& old,
                    const meta::PathChain& path, const Ratchet& ratchet);
  /// The text of a messageExpression, or nothing if it can't be used. Sets `error` if nothing else may be evaluated.
  std::optional<std::string> Message(const RuleTree::Rule& rule, std::span<const cel::Value> variables,
                                     std::string& error);
  Ratchet Field(const Ratchet& ratchet, const meta::json::value& value, std::string_view name,
                const meta::json::object* before, bool root);
  Ratchet Item(const Ratchet& ratchet, const meta::json::value& item);
  bool Unchanged(const Ratchet& ratchet);
  bool Spend(std::uint64_t cost);
  void Add(meta::FieldError error) { errors_.push_back(std::move(error)); }

  schema::Correlation* const correlation_;
  const std::function<void(std::string)> warn_;
  std::int64_t budget_;
  meta::FieldErrors errors_;
  cel::Evaluation evaluation_;
};

}  // namespace apimesh::extensions_api
