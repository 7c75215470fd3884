#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::cel {

struct Type;
using TypeRef = std::shared_ptr<const Type>;

/// The type of an expression. Types are immutable and shared.
struct Type {
  enum class Kind {
    kDyn,
    kAny,    // google.protobuf.Any: as kDyn, but a comprehension can't iterate over it
    kError,  // of an expression that has been reported
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kTimestamp,
    kDuration,
    kList,    // parameters[0]: elements
    kMap,     // parameters[0]: keys, parameters[1]: values
    kType,    // parameters[0], if known: the type that it denotes
    kOpaque,  // has a name and parameters, e.g. optional_type(int)
    kObject,  // has a name; a TypeProvider knows its fields
    kParameter,
  };

  Kind kind = Kind::kDyn;
  std::string name;
  std::vector<TypeRef> parameters;
  bool wrapper = false;  // of a wrapped simple type: a message such as Int64Value, to which null can be assigned
  int variable = -1;     // of a type parameter that the type checker has created: its number

  static const TypeRef& Dyn();
  static const TypeRef& Any();
  static const TypeRef& Error();
  static const TypeRef& Null();
  static const TypeRef& Bool();
  static const TypeRef& Int();
  static const TypeRef& Uint();
  static const TypeRef& Double();
  static const TypeRef& String();
  static const TypeRef& Bytes();
  static const TypeRef& Timestamp();
  static const TypeRef& Duration();
  static const TypeRef& AnyType();  // the type of types
  static TypeRef Wrapper(const TypeRef& simple);
  static TypeRef List(TypeRef element);
  static TypeRef Map(TypeRef key, TypeRef value);
  static TypeRef Optional(TypeRef value);
  static TypeRef TypeOf(TypeRef type);
  static TypeRef Object(std::string name);
  static TypeRef Opaque(std::string name, std::vector<TypeRef> parameters = {});
  static TypeRef Parameter(std::string name);
  static TypeRef Variable(int number);

  bool Is(Kind wanted) const { return kind == wanted; }
  bool IsOptional() const { return kind == Kind::kOpaque && name == "optional_type"; }
  /// "list(string)", as messages about types print it.
  std::string ToString() const;
  /// As kube-apiserver prints the type of an expression: timestamps have their full name, parameters brackets.
  std::string ToDeclaration() const;
};

/// Whether the types are the same, including the names of type parameters or ignoring them.
bool SameType(const Type& a, const Type& b, bool parameter_names = true);

}  // namespace apimesh::cel
