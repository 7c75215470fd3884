#include "services/authn-authz/config/expressions.h"

namespace apimesh::authn_authz {
namespace {

using cel::Type;
using cel::TypeRef;
using Fields = std::map<std::string, TypeRef, std::less<>>;

/// The types of the objects that expressions see.
class Types : public cel::TypeProvider {
 public:
  TypeRef Add(const std::string& name, Fields fields) {
    types_[name] = std::move(fields);
    return Type::Object(name);
  }
  TypeRef FindType(std::string_view name) const override {
    return types_.find(name) == types_.end() ? nullptr : Type::Object(std::string(name));
  }
  TypeRef FindField(std::string_view type, std::string_view field) const override {
    const auto fields = types_.find(type);
    if (fields == types_.end()) return nullptr;
    const auto found = fields->second.find(field);
    return found == fields->second.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, Fields, std::less<>> types_;
};

TypeRef Selector(Types& types, const char* name) {
  const TypeRef &string = Type::String(), strings = Type::List(string);
  const TypeRef requirement =
      types.Add("kubernetes.SelectorRequirement", {{"key", string}, {"operator", string}, {"values", strings}});
  return types.Add(name, {{"rawSelector", string}, {"requirements", Type::List(requirement)}});
}

TypeRef RequestType(Types& types) {
  const TypeRef &string = Type::String(), strings = Type::List(string);
  const TypeRef resource = types.Add("kubernetes.ResourceAttributes",
                                     {{"namespace", string},
                                      {"verb", string},
                                      {"group", string},
                                      {"version", string},
                                      {"resource", string},
                                      {"subresource", string},
                                      {"name", string},
                                      {"fieldSelector", Selector(types, "kubernetes.FieldSelectorAttributes")},
                                      {"labelSelector", Selector(types, "kubernetes.LabelSelectorAttributes")}});
  const TypeRef other = types.Add("kubernetes.NonResourceAttributes", {{"path", string}, {"verb", string}});
  return types.Add("kubernetes.SubjectAccessReviewSpec", {{"resourceAttributes", resource},
                                                          {"nonResourceAttributes", other},
                                                          {"user", string},
                                                          {"groups", strings},
                                                          {"extra", Type::Map(string, strings)},
                                                          {"uid", string}});
}

// Each scope has one variable.
cel::Program::Scope MakeScope(ExpressionScope scope) {
  const TypeRef &string = Type::String(), strings = Type::List(string);
  auto types = std::make_shared<Types>();
  cel::Program::Scope out;
  if (scope == ExpressionScope::kClaims) {
    out.variables = {{"claims", Type::Map(string, Type::Dyn())}};
  } else if (scope == ExpressionScope::kUser) {
    out.variables = {{"user", types->Add("kubernetes.UserInfo", {{"username", string},
                                                                 {"uid", string},
                                                                 {"groups", strings},
                                                                 {"extra", Type::Map(string, strings)}})}};
  } else {
    out.variables = {{"request", RequestType(*types)}};
  }
  out.types = std::move(types);
  return out;
}

const cel::Program::Scope& ScopeOf(ExpressionScope scope) {
  static const cel::Program::Scope claims = MakeScope(ExpressionScope::kClaims);
  static const cel::Program::Scope user = MakeScope(ExpressionScope::kUser);
  static const cel::Program::Scope request = MakeScope(ExpressionScope::kRequest);
  return scope == ExpressionScope::kClaims ? claims : scope == ExpressionScope::kUser ? user : request;
}

}  // namespace

std::optional<cel::Program> CompileExpression(std::string_view source, ExpressionScope scope, ExpressionResult result,
                                              const meta::Path& path, meta::FieldErrors& errors) {
  auto compiled = cel::Program::Compile(std::string(source), ScopeOf(scope));
  std::string complaint;
  if (!compiled.program) {
    complaint = compiled.instantiation_failed ? "program instantiation failed: " : "compilation failed: ";
    complaint += compiled.error;
  } else if (result == ExpressionResult::kBool && !compiled.program->ResultType()->Is(Type::Kind::kBool)) {
    complaint = "must evaluate to bool";
    if (scope == ExpressionScope::kRequest) complaint += " but got " + compiled.program->ResultType()->ToDeclaration();
  }
  if (complaint.empty()) return std::move(compiled.program);
  errors.push_back(meta::Invalid(path.ToString(), meta::Quoted(source), std::move(complaint)));
  return std::nullopt;
}

}  // namespace apimesh::authn_authz
