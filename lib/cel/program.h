#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/cel/check/declarations.h"
#include "lib/cel/cost/estimate.h"
#include "lib/cel/environment.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The memory and the cost of evaluations. Values that they return, and variables that are created in the arena, are
/// valid until the arena is cleared.
struct Evaluation {
  /// kube-apiserver's limit per expression.
  static constexpr std::uint64_t kCostLimit = 1'000'000;

  std::uint64_t cost_limit = kCostLimit;
  std::uint64_t cost = 0;  // what the last evaluation cost
  Arena arena;
};

/// A compiled expression. Immutable, thread-safe, cheap to copy.
class Program {
 public:
  struct Compiled;

  /// What an expression may use. It must outlive the programs.
  struct Scope {
    const Declarations* declarations = &BaseEnvironment(kCurrentMinor);
    std::vector<Variable> variables;
    std::shared_ptr<const TypeProvider> types;
  };
  static Compiled Compile(std::string source, const Scope& scope);

  /// Returns the result or an error value. `variables` has the values in the order of their declarations;
  /// Value::Unset() is a variable whose use is an error.
  Value Evaluate(std::span<const Value> variables, Evaluation& evaluation) const;

  const std::string& Source() const;
  const TypeRef& ResultType() const;
  /// Returns whether the expression selects `operand`.`field`, including has() and .?
  bool Selects(std::string_view operand, std::string_view field) const;
  /// Whether the expression uses a variable.
  bool Uses(std::string_view variable) const;
  /// The least and the greatest cost of an evaluation. `sizes` may be null.
  CostRange EstimateCost(const SizeEstimator* sizes) const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

struct Program::Compiled {
  std::optional<Program> program;
  std::string error;  // without a program: "ERROR: <input>:1:1: …" with the line and a caret
  /// Whether the expression is valid, but a constant in it can't be computed: int('x'). `error` has no position then.
  bool instantiation_failed = false;
};

}  // namespace apimesh::cel
