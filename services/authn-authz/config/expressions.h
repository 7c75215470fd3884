#pragma once

#include <optional>

#include "lib/cel/program.h"
#include "lib/meta/field_error.h"

namespace apimesh::authn_authz {

/// What an expression of a configuration file may name.
enum class ExpressionScope { kClaims, kUser, kRequest };
/// What it must give. Claims may be anything, so nobody knows before what a mapping of them gives.
enum class ExpressionResult { kAnything, kBool };

/// Nullopt, with a complaint in `errors`, if it does not compile.
std::optional<cel::Program> CompileExpression(std::string_view source, ExpressionScope scope, ExpressionResult result,
                                              const meta::Path& path, meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
