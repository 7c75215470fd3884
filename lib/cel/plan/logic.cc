#include "lib/cel/plan/logic.h"

#include "lib/cel/cost/sizes.h"
#include "lib/cel/value/compare.h"

namespace apimesh::cel {

Value LogicStep::Eval(Context& context) const {
  const Value left = left_->Eval(context);
  if (left.Is(Value::Kind::kBool) && left.AsBool() == is_or_) return left;
  const Value right = right_->Eval(context);
  if (right.Is(Value::Kind::kBool) && right.AsBool() == is_or_) return right;
  for (const Value& side : {left, right}) {
    if (!side.Is(Value::Kind::kBool)) return side.IsError() ? side : NoSuchOverload();
  }
  return Value::Bool(!is_or_);
}

Value EqualityStep::Eval(Context& context) const {
  const Value left = left_->Eval(context), right = right_->Eval(context);
  const bool unit = left.Is(Value::Kind::kOpaque) && !negated_;
  context.Charge(unit ? 1 : Traversal(std::min(SizeOf(left), SizeOf(right))));
  if (left.IsError()) return left;
  if (right.IsError()) return right;
  const Value equal = Equal(left, right, context.arena);
  return negated_ ? Value::Bool(!equal.IsTrue()) : equal;
}

Value OptionalOrStep::Eval(Context& context) const {
  const Value left = left_->Eval(context);
  if (!left.Is(Value::Kind::kOptional)) return left;
  if (!left.AsOptional()) return right_->Eval(context);
  return unwrap_ ? *left.AsOptional() : left;
}

}  // namespace apimesh::cel
