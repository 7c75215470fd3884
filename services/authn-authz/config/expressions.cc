#include "services/authn-authz/config/expressions.h"

namespace apimesh::authn_authz {
namespace {

using cel::Type;
using Variables = std::map<std::string, Type>;

Type String() { return Type::Of(Type::Kind::kString); }
Type Strings() { return Type::ListOf(String()); }

Type Selector(const char* name) {
  const Type requirement = Type::Object("kubernetes.SelectorRequirement",
                                        {{"key", String()}, {"operator", String()}, {"values", Strings()}});
  return Type::Object(name, {{"rawSelector", String()}, {"requirements", Type::ListOf(requirement)}});
}

const Variables& VariablesOf(ExpressionScope scope) {
  static const Variables claims{{"claims", Type::MapOf(Type())}};
  static const Variables user{{"user", Type::Object("kubernetes.UserInfo", {{"username", String()},
                                                                            {"uid", String()},
                                                                            {"groups", Strings()},
                                                                            {"extra", Type::MapOf(Strings())}})}};
  static const Type resource = Type::Object("kubernetes.ResourceAttributes",
                                            {{"namespace", String()},
                                             {"verb", String()},
                                             {"group", String()},
                                             {"version", String()},
                                             {"resource", String()},
                                             {"subresource", String()},
                                             {"name", String()},
                                             {"fieldSelector", Selector("kubernetes.FieldSelectorAttributes")},
                                             {"labelSelector", Selector("kubernetes.LabelSelectorAttributes")}});
  static const Type other = Type::Object("kubernetes.NonResourceAttributes", {{"path", String()}, {"verb", String()}});
  static const Variables request{
      {"request", Type::Object("kubernetes.SubjectAccessReviewSpec", {{"resourceAttributes", resource},
                                                                      {"nonResourceAttributes", other},
                                                                      {"user", String()},
                                                                      {"groups", Strings()},
                                                                      {"extra", Type::MapOf(Strings())},
                                                                      {"uid", String()}})}};
  return scope == ExpressionScope::kClaims ? claims : scope == ExpressionScope::kUser ? user : request;
}

}  // namespace

std::optional<cel::Program> CompileExpression(std::string_view source, ExpressionScope scope, ExpressionResult result,
                                              const meta::Path& path, meta::FieldErrors& errors) {
  auto compiled = cel::Program::Compile(std::string(source), VariablesOf(scope));
  std::string complaint;
  if (!compiled.program) {
    complaint = "compilation failed: " + compiled.error;
  } else if (result == ExpressionResult::kBool && compiled.program->ResultType().kind != Type::Kind::kBool) {
    complaint = "must evaluate to bool";
    if (scope == ExpressionScope::kRequest) complaint += " but got " + compiled.program->ResultType().ToString();
  }
  if (complaint.empty()) return std::move(compiled.program);
  errors.push_back(meta::Invalid(path.ToString(), meta::Quoted(source), std::move(complaint)));
  return std::nullopt;
}

}  // namespace apimesh::authn_authz
