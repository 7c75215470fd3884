#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/cel/program.h"
#include "lib/cel/schema/schema_types.h"
#include "lib/meta/object.h"

/// The rules that schemas of CustomResourceDefinitions have in x-kubernetes-validations: how they are compiled when a
/// definition is written, and how they are evaluated when a custom resource is written.
namespace apimesh::extensions_api {

/// An element of x-kubernetes-validations.
struct ValidationRule {
  std::string rule, message, message_expression, field_path;
  std::optional<std::string> reason;
  std::optional<bool> optional_old_self;

  /// The text that errors show for the rule.
  std::string_view Shown() const;
};
/// Reads the rules of a schema, without those of nested schemas.
std::vector<ValidationRule> ReadRules(const meta::json::object& schema);
/// Returns whether the schema or a nested one has rules.
bool HasRules(const meta::json::object& schema);

/// Text without the white space at its ends.
std::string_view Trimmed(std::string_view text);

/// The type of `self` in the rules of a schema.
struct SelfType {
  cel::ShapeRef shape;                           // null: expressions can't see values of the schema
  std::shared_ptr<const cel::ShapeTypes> types;  // the types of a tree of schemas that contains this one
  std::string name;                              // the prefix of the names of the types of this schema and nested ones
};
/// Makes the type of a schema. `resource`: the schema is that of a custom resource or of an embedded resource.
SelfType MakeSelfType(const meta::json::object& schema, bool resource);
// The types of nested schemas. The shape is null if `parent` has none, or if expressions can't name the value.
SelfType PropertyType(const SelfType& parent, std::string_view name);
SelfType ItemType(const SelfType& parent);   // of a list
SelfType ValueType(const SelfType& parent);  // of a map

struct CompiledRule {
  std::optional<cel::Program> program;  // none if the rule is empty or has an error
  std::optional<cel::Program> message;
  std::string error, message_error;
  bool uses_old_self = false;
  std::uint64_t max_cost = 0, message_max_cost = 0;  // 0 unless they were asked for
};
struct CompileOptions {
  int rule_minor = cel::kCurrentMinor, message_minor = cel::kCurrentMinor;
  bool estimate = false;
};
/// Compiles a rule. The variables of both programs are self and oldSelf.
CompiledRule CompileRule(const ValidationRule& rule, const SelfType& self, const CompileOptions& options);

}  // namespace apimesh::extensions_api
