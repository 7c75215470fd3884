#include "lib/cel/library/type_values.h"

#include <map>
#include <mutex>

namespace apimesh::cel {
namespace {

// The types of opaque values, which exist as long as the process. There are only as many as libraries define.
const Type* OpaqueType(std::string_view name) {
  static std::mutex mutex;
  static auto& types = *new std::map<std::string, TypeRef, std::less<>>();
  const std::lock_guard lock(mutex);
  auto found = types.find(name);
  if (found == types.end()) found = types.emplace(name, Type::Opaque(std::string(name))).first;
  return found->second.get();
}

}  // namespace

const Type* TypeOfValue(const Value& value) {
  static const TypeRef& list = *new TypeRef(Type::List(Type::Dyn()));
  static const TypeRef& map = *new TypeRef(Type::Map(Type::Dyn(), Type::Dyn()));
  static const TypeRef& optional = *new TypeRef(Type::Opaque("optional_type"));
  switch (value.GetKind()) {
    case Value::Kind::kNull: return Type::Null().get();
    case Value::Kind::kBool: return Type::Bool().get();
    case Value::Kind::kInt: return Type::Int().get();
    case Value::Kind::kUint: return Type::Uint().get();
    case Value::Kind::kDouble: return Type::Double().get();
    case Value::Kind::kString: return Type::String().get();
    case Value::Kind::kBytes: return Type::Bytes().get();
    case Value::Kind::kList:
    case Value::Kind::kJsonList: return list.get();
    case Value::Kind::kMap:
    case Value::Kind::kJsonMap:
    case Value::Kind::kDynamicMap: return map.get();
    case Value::Kind::kObject: return value.ObjectType();
    case Value::Kind::kTimestamp: return Type::Timestamp().get();
    case Value::Kind::kDuration: return Type::Duration().get();
    case Value::Kind::kType: return Type::AnyType().get();
    case Value::Kind::kOptional: return optional.get();
    case Value::Kind::kOpaque: return OpaqueType(value.AsOpaque().TypeName());
    default: return Type::Error().get();
  }
}

}  // namespace apimesh::cel
