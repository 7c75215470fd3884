#include "lib/admission/expressions/expression.h"

#include <fmt/format.h>

#include "lib/base/cache/weak_cache.h"

namespace apimesh::admission {
namespace {

using cel::Type;

std::vector<cel::TypeRef> TypesOf(ExpressionResult result) {
  switch (result) {
    case ExpressionResult::kBool: return {Type::Bool()};
    case ExpressionResult::kString: return {Type::String()};
    case ExpressionResult::kStringOrNull: return {Type::String(), Type::Null()};
    case ExpressionResult::kJsonPatches: return {Type::List(Type::Object("JSONPatch"))};
    case ExpressionResult::kApplyConfiguration: return {Type::Object("Object")};
    case ExpressionResult::kAny: break;
  }
  return {};
}

// Why the type of an expression is not the wanted one, or "".
std::string WrongType(const Type& found, ExpressionResult result) {
  const std::vector<cel::TypeRef> wanted = TypesOf(result);
  if (wanted.empty()) return "";
  std::string names;
  for (const cel::TypeRef& type : wanted) {
    if (SameType(*type, found)) return "";
    names += (names.empty() ? "" : " ") + type->ToDeclaration();
  }
  if (wanted.size() == 1) return fmt::format("must evaluate to {} but got {}", names, found.ToDeclaration());
  return fmt::format("must evaluate to one of [{}] but got {}", names, found.ToDeclaration());
}

ExpressionPtr Compile(std::string_view source, const cel::Program::Scope& scope, ExpressionResult result) {
  auto out = std::make_shared<Expression>();
  out->source = source;
  cel::Program::Compiled compiled = cel::Program::Compile(out->source, scope);
  if (!compiled.program) {
    out->internal_error = compiled.instantiation_failed;
    out->error =
        (compiled.instantiation_failed ? "program instantiation failed: " : "compilation failed: ") + compiled.error;
    return out;
  }
  out->error = WrongType(*compiled.program->ResultType(), result);
  if (!out->error.empty()) return out;
  out->program = std::move(compiled.program);
  out->uses_request = out->program->Uses("request");
  out->uses_authorizer = out->program->Uses("authorizer") || out->program->Uses("authorizer.requestResource");
  return out;
}

}  // namespace

ExpressionPtr CompileExpression(std::string_view source, const ExpressionScope& scope, const ExpressionOptions& options,
                                ExpressionResult result) {
  static auto& cache = *new WeakCache<std::string, Expression>();
  // Composed variables matter only to expressions that name them.
  const bool composed = source.find("variables") != std::string_view::npos;
  std::string key =
      fmt::format("{}/{}{}{}/{}/{}/{}", scope.Key(), options.params, options.authorizer, options.patch_types,
                  static_cast<int>(result), composed ? scope.VariablesKey() : "", source);
  if (ExpressionPtr found = cache.Find(key)) return found;
  ExpressionPtr compiled = Compile(source, scope.For(options), result);
  cache.Add(std::move(key), compiled);
  return compiled;
}

}  // namespace apimesh::admission
