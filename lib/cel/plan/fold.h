#pragma once

#include "lib/cel/plan/step.h"

namespace apimesh::cel {

/// A comprehension. Its variables are locals with these numbers.
class FoldStep : public Step {
 public:
  struct Parts {
    StepPtr range, init, condition, step, result;
    std::size_t variable = 0, variable2 = 0, accumulator = 0;
    bool two_variables = false;
  };
  explicit FoldStep(Parts parts) : parts_(std::move(parts)) {}
  Value Eval(Context& context) const override;

 private:
  bool Next(Context& context, const Value& first, const Value& second) const;
  Value Run(Context& context, const Value& range) const;

  Parts parts_;
};

/// A new empty list or map, to which a comprehension adds.
class EmptyStep : public Step {
 public:
  explicit EmptyStep(bool map) : map_(map) {}
  Value Eval(Context& context) const override;

 private:
  bool map_;
};

/// accumulator + [items]: extends the list of a comprehension in place.
class AppendStep : public Step {
 public:
  AppendStep(std::size_t accumulator, StepPtr items) : accumulator_(accumulator), items_(std::move(items)) {}
  Value Eval(Context& context) const override;

 private:
  std::size_t accumulator_;
  StepPtr items_;
};

/// Inserts a key and a value, or all entries of a map, into the map of a comprehension in place.
class InsertStep : public Step {
 public:
  /// `value` null: `key` computes a map.
  InsertStep(std::size_t accumulator, StepPtr key, StepPtr value)
      : accumulator_(accumulator), key_(std::move(key)), value_(std::move(value)) {}
  Value Eval(Context& context) const override;

 private:
  std::size_t accumulator_;
  StepPtr key_, value_;
};

}  // namespace apimesh::cel
