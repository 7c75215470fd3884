#include "services/extensions-api/validations/rule_tree.h"

#include <unordered_map>

#include "lib/base/cache/weak_cache.h"
#include "lib/base/hash/keyed_hash.h"
#include "services/extensions-api/validations/field_path.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

const json::object* ObjectAt(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  return value ? value->if_object() : nullptr;
}

std::shared_ptr<const CompiledRule> Failed(std::string error) {
  auto rule = std::make_shared<CompiledRule>();
  rule->error = std::move(error);
  return rule;
}

class Compiler {
 public:
  /// Fills `out`, except its type and node.
  void Build(const json::object& schema, const SelfType& self, RuleTree& out) {
    out.shape = self.shape;
    out.type = meta::FindString(schema, "type");
    AddRules(schema, self, out);
    if (const json::object* items = ObjectAt(schema, "items")) {
      out.items = Child(*items, ItemType(self), out.node ? out.node->items : nullptr);
    }
    if (const json::object* values = ObjectAt(schema, "additionalProperties")) {
      out.values = Child(*values, ValueType(self), out.node ? out.node->items : nullptr);
    }
    const json::object* properties = ObjectAt(schema, "properties");
    if (!properties) return;
    for (const auto& [name, property] : *properties) {
      if (!property.is_object()) continue;
      const bool nameable = cel::EscapeName(name).has_value();
      SelfType type = nameable ? PropertyType(self, name) : SelfType();
      // A property that expressions can't name still has its own rules; one of an unknown type has none.
      if (!nameable) type = OwnType(property.get_object());
      if (!type.shape) continue;
      const schema::Field* field = out.node ? out.node->FindField(name) : nullptr;
      if (auto child = Child(property.get_object(), type, field ? field->schema : nullptr))
        out.properties.emplace(name, std::move(*child));
    }
  }

 private:
  static SelfType OwnType(const json::object& schema) {
    if (!HasRules(schema)) return {};
    const json::value* embedded = meta::FindField(schema, "x-kubernetes-embedded-resource");
    return MakeSelfType(schema, embedded && embedded->is_bool() && embedded->get_bool());
  }

  std::unique_ptr<RuleTree> Child(const json::object& schema, const SelfType& self, const schema::Node* node) {
    auto child = std::make_unique<RuleTree>();
    child->node = node;
    Build(schema, self, *child);
    return child->Empty() ? nullptr : std::move(child);
  }

  void AddRules(const json::object& schema, const SelfType& self, RuleTree& out) {
    for (ValidationRule& source : ReadRules(schema)) {
      RuleTree::Rule rule;
      if (self.shape) {
        rule.compiled = Compiled(source, self);
      } else {
        rule.compiled = Failed("failed to convert to declType for CEL validation rules");
      }
      if (!source.field_path.empty()) rule.field_path = NormalizeFieldPath(source.field_path, schema).value_or("");
      out.uses_old_self = out.uses_old_self || rule.compiled->uses_old_self;
      rule.source = std::move(source);
      out.rules.push_back(std::move(rule));
    }
  }

  std::shared_ptr<const CompiledRule> Compiled(const ValidationRule& rule, const SelfType& self) {
    static auto& programs = *new WeakCache<Digest, CompiledRule, DigestHash>();
    const Digest type = DigestOf(*self.shape);
    KeyedHash key;
    key.AddNumber(type.low);
    key.AddNumber(type.high);
    key.AddNumber(rule.optional_old_self.value_or(false));
    key.Add(rule.rule);
    key.Add(rule.message_expression);
    const Digest digest = key.Finish();
    if (std::shared_ptr<const CompiledRule> known = programs.Find(digest)) return known;
    auto compiled = std::make_shared<const CompiledRule>(CompileRule(rule, self, {}));
    programs.Add(digest, compiled);
    return compiled;
  }

  /// Represents what expressions can see of a shape. The names of types are left out.
  Digest DigestOf(const cel::Shape& shape) {
    if (const auto known = digests_.find(&shape); known != digests_.end()) return known->second;
    KeyedHash hash;
    const auto add = [&](const cel::Shape& inner) {
      const Digest digest = DigestOf(inner);
      hash.AddNumber(digest.low);
      hash.AddNumber(digest.high);
    };
    hash.AddNumber(static_cast<std::uint64_t>(shape.kind));
    if (shape.element) add(*shape.element);
    hash.AddNumber(shape.fields.size());
    for (const auto& [name, field] : shape.fields) {
      hash.Add(name);
      add(*field.shape);
    }
    return digests_[&shape] = hash.Finish();
  }

  std::unordered_map<const cel::Shape*, Digest> digests_;
};

}  // namespace

std::shared_ptr<const RuleTree> CompileRules(const json::object& schema, const schema::Node& node, bool resource) {
  if (!HasRules(schema)) return nullptr;
  auto tree = std::make_shared<RuleTree>();
  tree->node = &node;
  Compiler().Build(schema, MakeSelfType(schema, resource), *tree);
  return tree;
}

}  // namespace apimesh::extensions_api
