#pragma once

#include "lib/cel/plan/step.h"

namespace apimesh::cel {

/// a && b, or a || b: an error on one side does not matter if the other side decides.
class LogicStep : public Step {
 public:
  LogicStep(bool is_or, StepPtr left, StepPtr right)
      : is_or_(is_or), left_(std::move(left)), right_(std::move(right)) {}
  Value Eval(Context& context) const override;

 private:
  bool is_or_;
  StepPtr left_, right_;
};

/// a == b, or a != b.
class EqualityStep : public Step {
 public:
  EqualityStep(bool negated, StepPtr left, StepPtr right)
      : negated_(negated), left_(std::move(left)), right_(std::move(right)) {}
  Value Eval(Context& context) const override;

 private:
  bool negated_;
  StepPtr left_, right_;
};

/// a.or(b), a.orValue(b): b is evaluated only if a has no value.
class OptionalOrStep : public Step {
 public:
  OptionalOrStep(bool unwrap, StepPtr left, StepPtr right)
      : unwrap_(unwrap), left_(std::move(left)), right_(std::move(right)) {}
  Value Eval(Context& context) const override;

 private:
  bool unwrap_;
  StepPtr left_, right_;
};

}  // namespace apimesh::cel
