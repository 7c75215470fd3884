#pragma once

#include <optional>

#include "lib/cel/program.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::authn_authz {

/// The variables that an expression of a configuration file may use.
enum class ExpressionScope { kClaims, kUser, kRequest };
/// The result type of an expression. The types of claims are unknown, so the result of a claim mapping can't be checked
/// at compile time.
enum class ExpressionResult { kAnything, kBool };

/// Compiles an expression. If that fails, adds an error to `errors` and returns nullopt.
std::optional<cel::Program> CompileExpression(std::string_view source, ExpressionScope scope, ExpressionResult result,
                                              const meta::Path& path, meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
