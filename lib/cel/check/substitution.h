#pragma once

#include <span>
#include <vector>

#include "lib/cel/types/type.h"

namespace apimesh::cel {

bool IsDyn(const Type& type);
bool IsDynOrError(const Type& type);
/// The less specific of two types that fit together.
const TypeRef& MostGeneral(const TypeRef& a, const TypeRef& b);

/// What is known about the type variables of an expression.
class Substitution {
 public:
  TypeRef NewVariable();
  /// Whether `a` can be assigned to `b`. If so, variables are bound such that it can; otherwise nothing changes.
  bool Assign(const TypeRef& a, const TypeRef& b);
  bool AssignAll(std::span<const TypeRef> a, std::span<const TypeRef> b);
  /// The type with its bound variables replaced; unbound ones become dyn if `to_dyn`.
  TypeRef Apply(const TypeRef& type, bool to_dyn) const;
  /// The type with the named parameters replaced by new variables.
  TypeRef Instantiate(const TypeRef& type, std::vector<std::pair<std::string, TypeRef>>& names);

 private:
  const TypeRef* Find(const Type& variable) const;
  void Bind(const Type& variable, TypeRef type);
  bool Fits(const TypeRef& a, const TypeRef& b);
  bool FitsAll(std::span<const TypeRef> a, std::span<const TypeRef> b);
  struct Binding {
    bool valid, bound;
  };
  Binding CanBind(const TypeRef& type, const TypeRef& variable);
  bool NotWithin(const Type& variable, const Type& type) const;

  std::vector<TypeRef> bindings_;
  std::vector<std::pair<int, TypeRef>> changes_;  // earlier bindings, to undo an attempt
};

}  // namespace apimesh::cel
