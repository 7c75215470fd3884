#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/admission/expressions/scope.h"

namespace apimesh::admission {

/// What an expression must return.
enum class ExpressionResult {
  kBool,
  kString,
  kStringOrNull,
  kAny,
  kJsonPatches,         // a list of JSONPatch
  kApplyConfiguration,  // Object
};

/// A compiled expression. Immutable and thread-safe.
struct Expression {
  std::string source;
  std::optional<cel::Program> program;
  std::string error;            // without a program: "compilation failed: …" or "must evaluate to …"
  bool internal_error = false;  // the expression is valid, but the program cannot be created
  bool uses_request = false;
  bool uses_authorizer = false;
};
using ExpressionPtr = std::shared_ptr<const Expression>;

/// Compiles an expression. Equal expressions with equal declarations share one program.
ExpressionPtr CompileExpression(std::string_view source, const ExpressionScope& scope, const ExpressionOptions& options,
                                ExpressionResult result);

}  // namespace apimesh::admission
