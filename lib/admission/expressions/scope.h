#pragma once

#include <string>
#include <vector>

#include "lib/cel/program.h"

namespace apimesh::admission {

/// The optional variables and types that an expression may use besides object, oldObject, request and namespaceObject.
struct ExpressionOptions {
  bool params = false;
  bool authorizer = false;   // authorizer and authorizer.requestResource
  bool patch_types = false;  // Object{…}, JSONPatch{…} and jsonpatch.escapeKey()
};

/// The variables of expressions in the order in which Activation passes their values.
enum class VariableIndex {
  kObject,
  kOldObject,
  kRequest,
  kNamespaceObject,
  kParams,
  kAuthorizer,
  kRequestResource,
  kVariables,
  kCount
};

/// The environment in which the expressions of one policy or webhook are compiled. Not thread-safe.
class ExpressionScope {
 public:
  /// `minor` is cel::kCurrentMinor for expressions that are stored already and cel::kCompatibilityMinor for new ones.
  /// `composed`: whether expressions can use `variables`, which is the case in policies.
  ExpressionScope(int minor, bool composed);

  /// Declares variables.`name`. A type that is neither a scalar nor a list or map becomes dyn. An expression that
  /// cannot be compiled has no type (nullptr): dyn.
  void AddVariable(const std::string& name, const cel::TypeRef& type);

  /// The scope for cel::Program::Compile().
  cel::Program::Scope For(const ExpressionOptions& options) const;
  /// A text that is equal for scopes with the same declarations, `variables` aside.
  const std::string& Key() const { return key_; }
  /// The declarations of `variables` as a text.
  const std::string& VariablesKey() const { return variables_key_; }

 private:
  class Types;

  const int minor_;
  const bool composed_;
  std::string key_, variables_key_;
  std::shared_ptr<Types> types_, types_with_patches_;
};

}  // namespace apimesh::admission
