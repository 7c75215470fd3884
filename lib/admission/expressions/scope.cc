#include "lib/admission/expressions/scope.h"

#include <map>

namespace apimesh::admission {
namespace {

using cel::Type;
using cel::TypeRef;
using Fields = std::map<std::string, TypeRef, std::less<>>;

constexpr char kVariablesType[] = "kubernetes.variables";

struct Fixed {
  std::map<std::string, Fields, std::less<>> types;
  TypeRef Add(const std::string& name, Fields fields) {
    types[name] = std::move(fields);
    return Type::Object(name);
  }
};

void AddRequest(Fixed& out) {
  const TypeRef &s = Type::String(), strings = Type::List(s);
  const TypeRef kind = out.Add("kubernetes.GroupVersionKind", {{"group", s}, {"version", s}, {"kind", s}});
  const TypeRef resource = out.Add("kubernetes.GroupVersionResource", {{"group", s}, {"version", s}, {"resource", s}});
  const TypeRef user = out.Add("kubernetes.UserInfo",
                               {{"username", s}, {"uid", s}, {"groups", strings}, {"extra", Type::Map(s, strings)}});
  out.Add("kubernetes.AdmissionRequest", {{"kind", kind},
                                          {"resource", resource},
                                          {"subResource", s},
                                          {"requestKind", kind},
                                          {"requestResource", resource},
                                          {"requestSubResource", s},
                                          {"name", s},
                                          {"namespace", s},
                                          {"operation", s},
                                          {"userInfo", user},
                                          {"dryRun", Type::Bool()},
                                          {"options", Type::Dyn()}});
}

void AddNamespace(Fixed& out) {
  const TypeRef &s = Type::String(), strings = Type::List(s), texts = Type::Map(s, s), &time = Type::Timestamp();
  const TypeRef spec = out.Add("kubernetes.NamespaceSpec", {{"finalizers", strings}});
  const TypeRef condition =
      out.Add("kubernetes.NamespaceCondition",
              {{"status", s}, {"type", s}, {"lastTransitionTime", time}, {"message", s}, {"reason", s}});
  const TypeRef status = out.Add("kubernetes.NamespaceStatus", {{"conditions", Type::List(condition)}, {"phase", s}});
  const TypeRef metadata = out.Add("kubernetes.NamespaceMetadata", {{"name", s},
                                                                    {"generateName", s},
                                                                    {"namespace", s},
                                                                    {"labels", texts},
                                                                    {"annotations", texts},
                                                                    {"UID", s},
                                                                    {"creationTimestamp", time},
                                                                    {"deletionGracePeriodSeconds", Type::Int()},
                                                                    {"deletionTimestamp", time},
                                                                    {"generation", Type::Int()},
                                                                    {"resourceVersion", s},
                                                                    {"finalizers", strings}});
  out.Add("kubernetes.Namespace", {{"metadata", metadata}, {"spec", spec}, {"status", status}});
}

const Fixed& FixedTypes() {
  static const Fixed& types = *[] {
    auto* out = new Fixed();
    AddRequest(*out);
    AddNamespace(*out);
    return out;
  }();
  return types;
}

bool IsPatchObject(std::string_view type) { return type == "Object" || type.starts_with("Object."); }

// The type of a composed variable as expressions see it.
TypeRef ComposedType(const TypeRef& type) {
  if (!type) return Type::Dyn();
  switch (type->kind) {
    case Type::Kind::kNull:
    case Type::Kind::kBool:
    case Type::Kind::kInt:
    case Type::Kind::kUint:
    case Type::Kind::kDouble:
    case Type::Kind::kString:
    case Type::Kind::kBytes:
    case Type::Kind::kTimestamp:
    case Type::Kind::kDuration: return type;
    case Type::Kind::kList: return Type::List(ComposedType(type->parameters[0]));
    case Type::Kind::kMap: return Type::Map(ComposedType(type->parameters[0]), ComposedType(type->parameters[1]));
    default: return Type::Dyn();
  }
}

}  // namespace

class ExpressionScope::Types : public cel::TypeProvider {
 public:
  Types(bool patches, bool composed) : patches_(patches), composed_(composed) {}

  TypeRef FindType(std::string_view name) const override {
    const bool found = FixedTypes().types.contains(name) || (composed_ && name == kVariablesType) ||
                       (patches_ && (name == "JSONPatch" || IsPatchObject(name)));
    return found ? Type::Object(std::string(name)) : nullptr;
  }
  TypeRef FindField(std::string_view type, std::string_view field) const override {
    if (const auto fields = FixedTypes().types.find(type); fields != FixedTypes().types.end())
      return FindIn(fields->second, field);
    if (composed_ && type == kVariablesType) return FindIn(variables, field);
    if (patches_ && type == "JSONPatch") return PatchField(field);
    if (patches_ && IsPatchObject(type)) return Type::Dyn();
    return nullptr;
  }
  bool CanConstruct(std::string_view type) const override {
    return patches_ && (type == "JSONPatch" || IsPatchObject(type));
  }

  Fields variables;

 private:
  static TypeRef FindIn(const Fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : found->second;
  }
  static TypeRef PatchField(std::string_view field) {
    if (field == "op" || field == "path" || field == "from") return Type::String();
    // As in kube-apiserver, other fields exist, but no value has their type.
    return field == "value" ? Type::Dyn() : Type::Opaque("");
  }

  const bool patches_, composed_;
};

ExpressionScope::ExpressionScope(int minor, bool composed)
    : minor_(minor),
      composed_(composed),
      key_(std::to_string(minor)),
      variables_key_(composed ? "composed;" : ""),
      types_(std::make_shared<Types>(false, composed)),
      types_with_patches_(std::make_shared<Types>(true, composed)) {}

void ExpressionScope::AddVariable(const std::string& name, const TypeRef& type) {
  const TypeRef composed = ComposedType(type);
  types_->variables[name] = composed;
  types_with_patches_->variables[name] = composed;
  variables_key_ += name + ":" + composed->ToString() + ";";
}

cel::Program::Scope ExpressionScope::For(const ExpressionOptions& options) const {
  cel::Program::Scope out;
  out.declarations = options.patch_types ? &cel::PatchEnvironment(minor_) : &cel::BaseEnvironment(minor_);
  out.types = options.patch_types ? types_with_patches_ : types_;
  // No expression can name a variable with an empty name, so all scopes have the same order of variables.
  const auto add = [&](const char* name, const TypeRef& type, bool declared) {
    out.variables.push_back({declared ? name : "", type});
  };
  add("object", Type::Dyn(), true);
  add("oldObject", Type::Dyn(), true);
  add("request", Type::Object("kubernetes.AdmissionRequest"), true);
  add("namespaceObject", Type::Object("kubernetes.Namespace"), true);
  add("params", Type::Dyn(), options.params);
  add("authorizer", Type::Object("kubernetes.authorization.Authorizer"), options.authorizer);
  add("authorizer.requestResource", Type::Object("kubernetes.authorization.ResourceCheck"), options.authorizer);
  add("variables", Type::Object(kVariablesType), composed_);
  return out;
}

}  // namespace apimesh::admission
