#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lib/cel/type.h"
#include "lib/cel/value.h"

namespace apimesh::cel {

struct Node;

/// A compiled expression of the Common Expression Language, as far as README.md says. Immutable, thread-safe, cheap to
/// copy.
class Program {
 public:
  struct Compiled;

  /// `variables`: what the expression may name, and what is known of it.
  static Compiled Compile(std::string source, const std::map<std::string, Type>& variables);

  /// The result, or an error value. A step costs 1, text and lists cost by length; beyond `cost_limit` it is an error.
  /// `variables` may leave out some of those declared; naming one is then an error.
  Value Evaluate(const std::map<std::string, Value>& variables, std::uint64_t cost_limit = kCostLimit) const;

  const std::string& Source() const { return *source_; }
  const Type& ResultType() const { return type_; }
  /// Whether `operand`.`field` is selected anywhere, also by has() and .?
  bool Selects(std::string_view operand, std::string_view field) const;

  static constexpr std::uint64_t kCostLimit = 1'000'000;

 private:
  std::shared_ptr<const std::string> source_;
  std::shared_ptr<const Node> root_;
  Type type_;
};

struct Program::Compiled {
  std::optional<Program> program;
  std::string error;  // if there is no program: "ERROR: <input>:1:1: …" with the line and a caret
};

}  // namespace apimesh::cel
