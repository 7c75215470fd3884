#include "lib/cel/types/type.h"

namespace apimesh::cel {
namespace {

using Kind = Type::Kind;

TypeRef Make(Kind kind, std::string name, std::vector<TypeRef> parameters = {}) {
  return std::make_shared<const Type>(Type{kind, std::move(name), std::move(parameters)});
}

std::string WithParameters(const Type& type, std::string_view name, std::string (Type::*print)() const) {
  if (type.wrapper) return fmt::format("wrapper({})", name);
  if (type.parameters.empty()) return std::string(name);
  std::string out(name);
  out += '(';
  for (std::size_t i = 0; i < type.parameters.size(); ++i) {
    if (i) out += ", ";
    out += ((*type.parameters[i]).*print)();
  }
  return out + ')';
}

}  // namespace

// Each simple type exists once.
#define APIMESH_CEL_SIMPLE_TYPE(function, kind, name)   \
  const TypeRef& Type::function() {                     \
    static const TypeRef type = Make(Kind::kind, name); \
    return type;                                        \
  }
APIMESH_CEL_SIMPLE_TYPE(Dyn, kDyn, "dyn")
APIMESH_CEL_SIMPLE_TYPE(Any, kAny, "google.protobuf.Any")
APIMESH_CEL_SIMPLE_TYPE(Error, kError, "error")
APIMESH_CEL_SIMPLE_TYPE(Null, kNull, "null_type")
APIMESH_CEL_SIMPLE_TYPE(Bool, kBool, "bool")
APIMESH_CEL_SIMPLE_TYPE(Int, kInt, "int")
APIMESH_CEL_SIMPLE_TYPE(Uint, kUint, "uint")
APIMESH_CEL_SIMPLE_TYPE(Double, kDouble, "double")
APIMESH_CEL_SIMPLE_TYPE(String, kString, "string")
APIMESH_CEL_SIMPLE_TYPE(Bytes, kBytes, "bytes")
APIMESH_CEL_SIMPLE_TYPE(Timestamp, kTimestamp, "google.protobuf.Timestamp")
APIMESH_CEL_SIMPLE_TYPE(Duration, kDuration, "google.protobuf.Duration")
APIMESH_CEL_SIMPLE_TYPE(AnyType, kType, "type")
#undef APIMESH_CEL_SIMPLE_TYPE

TypeRef Type::Wrapper(const TypeRef& simple) {
  Type type = *simple;
  type.wrapper = true;
  return std::make_shared<const Type>(std::move(type));
}
TypeRef Type::List(TypeRef element) { return Make(Kind::kList, "list", {std::move(element)}); }
TypeRef Type::Map(TypeRef key, TypeRef value) { return Make(Kind::kMap, "map", {std::move(key), std::move(value)}); }
TypeRef Type::Optional(TypeRef value) { return Make(Kind::kOpaque, "optional_type", {std::move(value)}); }
TypeRef Type::TypeOf(TypeRef type) { return Make(Kind::kType, "type", {std::move(type)}); }
TypeRef Type::Object(std::string name) { return Make(Kind::kObject, std::move(name)); }
TypeRef Type::Opaque(std::string name, std::vector<TypeRef> parameters) {
  return Make(Kind::kOpaque, std::move(name), std::move(parameters));
}
TypeRef Type::Parameter(std::string name) { return Make(Kind::kParameter, std::move(name)); }
TypeRef Type::Variable(int number) {
  return std::make_shared<const Type>(Type{Kind::kParameter, fmt::format("_var{}", number), {}, false, number});
}

std::string Type::ToString() const {
  switch (kind) {
    case Kind::kAny: return "any";
    case Kind::kDuration: return "duration";
    case Kind::kTimestamp: return "timestamp";
    case Kind::kError: return "!error!";
    case Kind::kNull: return "null";
    default: return WithParameters(*this, name, &Type::ToString);
  }
}

std::string Type::ToDeclaration() const {
  if (kind == Kind::kParameter) return "<" + name + ">";
  return WithParameters(*this, name, &Type::ToDeclaration);
}

bool SameType(const Type& a, const Type& b, bool parameter_names) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.parameters.size() != b.parameters.size()) return false;
  if ((parameter_names || a.kind != Kind::kParameter) && a.name != b.name) return false;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (!SameType(*a.parameters[i], *b.parameters[i], parameter_names)) return false;
  }
  return true;
}

}  // namespace apimesh::cel
