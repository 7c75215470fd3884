#pragma once

#include <unordered_set>

#include "lib/cel/check/declarations.h"
#include "lib/cel/cost/call_cost.h"
#include "lib/cel/plan/step.h"

namespace re2 {
class RE2;
}

namespace apimesh::cel {

/// A call of one overload, or of the one that fits the arguments.
class CallStep : public Step {
 public:
  /// `overload` null: the types of the arguments select one when the call is evaluated.
  CallStep(const Function& function, const Overload* overload, std::vector<StepPtr> args);
  Value Eval(Context& context) const override;

 private:
  Value Invoke(std::span<const Value> args, Arena& arena) const;

  const Function& function_;
  const Overload* overload_;
  std::vector<StepPtr> args_;
  CallCost cost_;
  bool stops_at_error_;  // arguments after an error are not evaluated, and the call has no cost
};

/// matches, find or findAll with a constant pattern.
class PatternStep : public Step {
 public:
  PatternStep(const Function& function, std::string_view overload, std::shared_ptr<const re2::RE2> pattern,
              std::vector<StepPtr> args);
  Value Eval(Context& context) const override;

 private:
  std::string_view name_;
  std::shared_ptr<const re2::RE2> pattern_;
  std::vector<StepPtr> args_;
  CallCost cost_;
};

/// x in [constants]: has no cost, as in kube-apiserver.
class MembershipStep : public Step {
 public:
  MembershipStep(StepPtr item, Value list, Arena& arena);
  Value Eval(Context& context) const override;

 private:
  StepPtr item_;
  Value list_;
  std::unordered_set<std::string_view> texts_;
  bool only_texts_ = true;
};

/// @not_strictly_false(x): true unless x is false, even for errors.
class NotStrictlyFalseStep : public Step {
 public:
  explicit NotStrictlyFalseStep(StepPtr arg) : arg_(std::move(arg)) {}
  Value Eval(Context& context) const override {
    const Value value = arg_->Eval(context);
    context.Charge(1);
    return value.Is(Value::Kind::kBool) ? value : Value::Bool(true);
  }

 private:
  StepPtr arg_;
};

/// Whether a value can be passed where the type is declared. Of lists and maps, the first element is checked.
bool MatchesAtRuntime(const Type& type, const Value& value, Arena& arena);

}  // namespace apimesh::cel
