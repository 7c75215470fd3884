#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/syntax/macros.h"
#include "lib/cel/types/shape.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// Computes a call. The target of a member function is the first argument. No argument is an error.
using Body = Value (*)(std::span<const Value> args, Arena& arena);

/// One signature of a function.
struct Overload {
  std::string id;
  bool member = false;
  std::vector<TypeRef> args;
  TypeRef result;
  Body body = nullptr;  // null: the planner knows the function, or Function::body computes it
};

struct Function {
  std::string name;
  std::deque<Overload> overloads;
  /// Computes all overloads and checks the types of its arguments.
  Body body = nullptr;
  /// Whether arguments are passed to a body without checking that they have the types of its overload.
  bool unguarded = false;
};

/// Finds the types of objects by their names.
class TypeProvider {
 public:
  virtual ~TypeProvider() = default;
  virtual TypeRef FindType(std::string_view name) const = 0;
  /// The type of a field, or null.
  virtual TypeRef FindField(std::string_view type, std::string_view field) const = 0;
  /// Whether expressions can construct objects of the type: Type{field: value}.
  virtual bool CanConstruct(std::string_view /*type*/) const { return false; }
};

/// What expressions can use: functions, macros and types. Variables are declared per expression.
struct Declarations {
  std::map<std::string, Function, std::less<>> functions;
  std::map<std::string, TypeRef, std::less<>> types;  // by the name that denotes them
  MacroSet macros;
  bool cross_type_comparisons = true;
  bool validate_literals = true;
  bool validate_formats = true;

  const Function* FindFunction(std::string_view name) const;
  void Add(std::string_view function, Overload overload);
};

struct Variable {
  std::string name;
  TypeRef type;
};

}  // namespace apimesh::cel
