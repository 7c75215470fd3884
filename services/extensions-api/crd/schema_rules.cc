#include "services/extensions-api/crd/schema_rules.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/schema/crd.h"
#include "services/extensions-api/crd/default_rules.h"
#include "services/extensions-api/validations/field_path.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::Path;

constexpr std::array<std::string_view, 6> kTypes = {"array", "boolean", "integer", "number", "object", "string"};

// The fields that are allowed at the root of a schema with a status subresource, by the names of the Go type.
constexpr std::array<std::string_view, 22> kRootFields = {"description",
                                                          "type",
                                                          "format",
                                                          "title",
                                                          "maximum",
                                                          "exclusiveMaximum",
                                                          "minimum",
                                                          "exclusiveMinimum",
                                                          "maxLength",
                                                          "minLength",
                                                          "pattern",
                                                          "maxItems",
                                                          "minItems",
                                                          "uniqueItems",
                                                          "multipleOf",
                                                          "required",
                                                          "items",
                                                          "properties",
                                                          "externalDocs",
                                                          "example",
                                                          "x-kubernetes-preserve-unknown-fields",
                                                          "x-kubernetes-validations"};
constexpr char kRootFieldNames[] =
    "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern "
    "MaxItems MinItems UniqueItems "
    "MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

constexpr std::array<std::string_view, 4> kReasons = {"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid",
                                                      "FieldValueRequired"};

const json::object* ObjectAt(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  return value ? value->if_object() : nullptr;
}

bool Flag(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  return value && value->is_bool() && value->get_bool();
}

std::vector<std::string> Texts(const json::object& schema, std::string_view name) {
  std::vector<std::string> texts;
  const json::value* list = meta::FindField(schema, name);
  if (!list || !list->is_array()) return texts;
  for (const json::value& one : list->get_array()) {
    if (one.is_string()) texts.emplace_back(one.get_string());
  }
  return texts;
}

bool HasLineBreak(std::string_view text) { return text.find_first_of("\r\n") != std::string_view::npos; }

class SchemaRules {
 public:
  using Scope = ExpressionRules::Scope;

  /// `expressions` checks the expressions of rules; may be null.
  explicit SchemaRules(ExpressionRules* expressions) : expressions_(expressions) {}

  /// `no_defaults`: the reason why defaults are not allowed here; empty if they are. `scope`: null if the schema is
  /// below a schema that can't have rules.
  void Check(const json::object& s, const Path& path, bool root, bool in_meta, const std::string& no_defaults,
             const Scope* scope) {
    if (errors.Full()) return;
    const std::size_t errors_before = errors.size();
    CheckWords(s, path, in_meta, no_defaults);
    if (Flag(s, "uniqueItems")) {
      Add(meta::Forbidden(path.Child("uniqueItems").ToString(),
                          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }
    CheckChildren(s, path, root, in_meta, no_defaults, scope);
    CheckExtensions(s, path);
    CheckListMap(s, path);
    CheckValidations(s, path);
    // An invalid schema may have no types, so its expressions are not compiled.
    if (expressions_ && scope && errors.size() == errors_before) expressions_->Check(*scope, path);
  }

  meta::FieldErrors errors;

 private:
  void Add(meta::FieldError error) { errors.push_back(std::move(error)); }

  void CheckWords(const json::object& s, const Path& path, bool in_meta, const std::string& no_defaults) {
    const std::string_view type = meta::FindString(s, "type");
    if (!type.empty() && type != "null" && std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      Add(meta::NotSupported(path.Child("type").ToString(), meta::Quoted(type), {kTypes.begin(), kTypes.end()}));
    }
    if (!no_defaults.empty() && meta::FindField(s, "default")) {
      Add(meta::Forbidden(path.Child("default").ToString(), "must not be set " + no_defaults));
    }
    for (const char* word : {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      const json::value* value = meta::FindField(s, word);
      if (!value || value->is_null() || (value->is_string() && value->get_string().empty())) continue;
      Add(meta::Forbidden(path.Child(word).ToString(), fmt::format("{} is not supported", word)));
    }
    if (type == "null")
      Add(meta::Forbidden(path.Child("type").ToString(), "type cannot be set to null, use nullable as an alternative"));
    const json::value* items = meta::FindField(s, "items");
    if (items && items->is_array())
      Add(meta::Forbidden(path.Child("items").ToString(), "items must be a schema object and not an array"));
    if (in_meta && Flag(s, "x-kubernetes-embedded-resource")) {
      Add(meta::Forbidden(path.Child("x-kubernetes-embedded-resource").ToString(),
                          "must not be used inside of resource meta"));
    }
  }

  void CheckChildren(const json::object& s, const Path& path, bool root, bool in_meta, const std::string& no_defaults,
                     const Scope* scope) {
    const json::object* properties = ObjectAt(s, "properties");
    if (const json::value* additional = meta::FindField(s, "additionalProperties")) {
      const bool restricts = additional->is_object() || (additional->is_bool() && !additional->get_bool());
      if (properties && !properties->empty() && restricts) {
        Add(meta::Forbidden(path.Child("additionalProperties").ToString(),
                            "additionalProperties and properties are mutual exclusive"));
      }
      if (additional->is_object()) {
        const json::object& values = additional->get_object();
        const std::optional<Scope> inner = scope ? std::optional(scope->Values(values)) : std::nullopt;
        Check(values, path.Child("additionalProperties"), false, in_meta,
              in_meta ? "inside additionalProperties applying to object metadata" : no_defaults,
              inner ? &*inner : nullptr);
      }
    }
    if (properties) {
      for (const auto& [name, property] : *properties) {
        if (!property.is_object()) continue;
        const bool meta_field = (root || Flag(s, "x-kubernetes-embedded-resource")) &&
                                (name == "metadata" || name == "kind" || name == "apiVersion");
        const json::object& inner = property.get_object();
        const std::optional<Scope> inner_scope = scope ? std::optional(scope->Property(inner, name)) : std::nullopt;
        Check(inner, path.Child("properties").Key(name), false, in_meta || meta_field,
              root && meta_field ? fmt::format("in top-level {}", std::string_view(name)) : no_defaults,
              inner_scope ? &*inner_scope : nullptr);
      }
    }
    if (const json::object* inner = ObjectAt(s, "not"))
      Check(*inner, path.Child("not"), false, in_meta, no_defaults, nullptr);
    for (const char* word : {"allOf", "oneOf", "anyOf"}) {
      const json::value* list = meta::FindField(s, word);
      for (std::size_t i = 0; list && list->is_array() && i < list->get_array().size(); ++i) {
        const json::value& one = list->get_array()[i];
        if (one.is_object()) Check(one.get_object(), path.Child(word).Index(i), false, in_meta, no_defaults, nullptr);
      }
    }
    if (const json::object* items = ObjectAt(s, "items")) {
      const std::optional<Scope> inner = scope ? std::optional(scope->Items(*items, path)) : std::nullopt;
      Check(*items, path.Child("items"), false, in_meta, no_defaults, inner ? &*inner : nullptr);
    }
  }

  void NeedsType(const json::object& s, const Path& path, std::string_view type, std::string_view extension) {
    const std::string_view have = meta::FindString(s, "type");
    if (have == type) return;
    const std::string detail = fmt::format("must be {} if {} is specified", type, extension);
    const std::string field = path.Child("type").ToString();
    Add(have.empty() ? meta::Required(field, detail) : meta::Invalid(field, meta::Quoted(have), detail));
  }

  void CheckExtensions(const json::object& s, const Path& path) {
    const json::value* preserve = meta::FindField(s, "x-kubernetes-preserve-unknown-fields");
    if (preserve && preserve->is_bool() && !preserve->get_bool()) {
      Add(meta::Invalid(path.Child("x-kubernetes-preserve-unknown-fields").ToString(), "false",
                        "must be true or undefined"));
    }
    if (const json::value* map_type = meta::FindField(s, "x-kubernetes-map-type"); map_type && map_type->is_string()) {
      NeedsType(s, path, "object", "x-kubernetes-map-type");
      const std::string_view text = map_type->get_string();
      if (text != "atomic" && text != "granular") {
        Add(meta::NotSupported(path.Child("x-kubernetes-map-type").ToString(), meta::Quoted(text),
                               {"atomic", "granular"}));
      }
    }
    const json::value* list_type = meta::FindField(s, "x-kubernetes-list-type");
    if (!list_type || !list_type->is_string()) return;
    const std::string_view text = list_type->get_string();
    const json::object* items = ObjectAt(s, "items");
    constexpr char kAtomic[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    if (meta::FindString(s, "type") != "array") {
      NeedsType(s, path, "array", "x-kubernetes-list-type");
    } else if (text == "set" && items) {
      const std::string_view type = meta::FindString(*items, "type");
      const std::string_view inner_list = meta::FindString(*items, "x-kubernetes-list-type");
      if (type == "array" && !inner_list.empty() && inner_list != "atomic") {
        Add(meta::Invalid(path.Child("items").Child("x-kubernetes-list-type").ToString(), meta::Quoted(inner_list),
                          kAtomic));
      }
      if (type == "object" && meta::FindString(*items, "x-kubernetes-map-type") != "atomic") {
        Add(meta::Invalid(path.Child("items").Child("x-kubernetes-map-type").ToString(),
                          inner_list.empty() ? "null" : meta::Quoted(inner_list), kAtomic));
      }
    }
    if (text != "atomic" && text != "set" && text != "map") {
      Add(meta::NotSupported(path.Child("x-kubernetes-list-type").ToString(), meta::Quoted(text),
                             {"atomic", "set", "map"}));
    }
  }

  void CheckListMap(const json::object& s, const Path& path) {
    const std::vector<std::string> keys = Texts(s, "x-kubernetes-list-map-keys");
    const std::string_view list_type = meta::FindString(s, "x-kubernetes-list-type");
    if (!keys.empty() && list_type != "map") {
      const std::string field = path.Child("x-kubernetes-list-type").ToString();
      constexpr char kText[] = "must be map if x-kubernetes-list-map-keys is non-empty";
      Add(list_type.empty() ? meta::Required(field, kText) : meta::Invalid(field, meta::Quoted(list_type), kText));
    }
    const json::object* items = ObjectAt(s, "items");
    if (list_type == "map") {
      if (keys.empty()) {
        Add(meta::Required(path.Child("x-kubernetes-list-map-keys").ToString(),
                           "must not be empty if x-kubernetes-list-type is map"));
      }
      if (!items)
        Add(meta::Required(path.Child("items").ToString(), "must have a schema if x-kubernetes-list-type is map"));
      if (items) CheckMapItems(keys, *items, path);
    }
    if (items && (list_type == "map" || list_type == "set")) CheckItemNulls(keys, *items, list_type, path);
  }

  void CheckMapItems(const std::vector<std::string>& keys, const json::object& items, const Path& path) {
    const std::string_view type = meta::FindString(items, "type");
    if (type != "object") {
      Add(meta::Invalid(path.Child("items").Child("type").ToString(), meta::Quoted(type),
                        "must be object if parent array's x-kubernetes-list-type is map"));
      return;
    }
    json::array shown(keys.begin(), keys.end());
    const std::string all = codec::WriteJson(shown), field = path.Child("x-kubernetes-list-map-keys").ToString();
    const json::object* properties = ObjectAt(items, "properties");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < keys.size() && !errors.Full(); ++i) {
      const json::object* property = properties ? ObjectAt(*properties, keys[i]) : nullptr;
      if (!property) {
        Add(meta::Invalid(field, all, "entries must all be names of item properties"));
      } else if (const std::string_view kind = meta::FindString(*property, "type");
                 kind == "array" || kind == "object") {
        Add(meta::Invalid(path.Child("items").Child("properties").Key(keys[i]).Child("type").ToString(),
                          meta::Quoted(type), "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      if (!seen.insert(keys[i]).second) {
        Add(meta::Invalid(field, all, "must not contain duplicate entries"));
      }
    }
  }

  void CheckItemNulls(const std::vector<std::string>& keys, const json::object& items, std::string_view list_type,
                      const Path& path) {
    if (Flag(items, "nullable")) {
      Add(meta::Forbidden(path.Child("items").Child("nullable").ToString(),
                          fmt::format("cannot be nullable when x-kubernetes-list-type is {}", list_type)));
    }
    if (list_type != "map") return;
    const std::vector<std::string> names = Texts(items, "required");
    const std::set<std::string> required(names.begin(), names.end());
    const json::object* properties = ObjectAt(items, "properties");
    for (const std::string& key : keys) {
      const json::object* property = properties ? ObjectAt(*properties, key) : nullptr;
      if (!property) continue;
      const Path at = path.Child("items").Child("properties").Key(key);
      if (!required.contains(key) && !meta::FindField(*property, "default")) {
        Add(meta::Required(
            at.Child("default").ToString(),
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
      }
      if (Flag(*property, "nullable")) {
        Add(meta::Forbidden(at.Child("nullable").ToString(),
                            "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
      }
    }
  }

  void CheckValidations(const json::object& s, const Path& path) {
    const std::vector<ValidationRule> rules = ReadRules(s);
    for (std::size_t i = 0; i < rules.size() && !errors.Full(); ++i)
      CheckRule(rules[i], s, path.Child("x-kubernetes-validations").Index(i));
  }

  void CheckRule(const ValidationRule& rule, const json::object& s, const Path& at) {
    const std::string& message = rule.message;
    if (Trimmed(rule.rule).empty()) {
      Add(meta::Required(at.Child("rule").ToString(), "rule is not specified"));
    } else if (!message.empty() && Trimmed(message).empty()) {
      Add(meta::Invalid(at.Child("message").ToString(), meta::Quoted(message), "must be non-empty if specified"));
    } else if (HasLineBreak(Trimmed(message))) {
      Add(meta::Invalid(at.Child("message").ToString(), meta::Quoted(message), "must not contain line breaks"));
    } else if (HasLineBreak(Trimmed(rule.rule)) && Trimmed(message).empty()) {
      Add(meta::Required(at.Child("message").ToString(), "message must be specified if rule contains line breaks"));
    }
    if (!rule.message_expression.empty() && Trimmed(rule.message_expression).empty()) {
      Add(meta::Required(at.Child("messageExpression").ToString(), "messageExpression must be non-empty if specified"));
    }
    if (rule.reason && std::find(kReasons.begin(), kReasons.end(), *rule.reason) == kReasons.end()) {
      Add(meta::NotSupported(at.Child("reason").ToString(), meta::Quoted(*rule.reason),
                             {kReasons.begin(), kReasons.end()}));
    }
    const std::string& field_path = rule.field_path;
    const auto invalid_path = [&](const char* why) {
      Add(meta::Invalid(at.Child("fieldPath").ToString(), meta::Quoted(field_path), why));
    };
    if (field_path.empty()) return;
    if (Trimmed(field_path).empty()) invalid_path("must be non-empty if specified");
    if (HasLineBreak(field_path)) invalid_path("must not contain line breaks");
    if (!NormalizeFieldPath(field_path, s)) invalid_path("must be a valid path");
  }

  ExpressionRules* const expressions_;
};

void CheckRoot(const json::object& openapi, const Path& path, meta::FieldErrors& errors) {
  for (const auto& [name, value] : openapi) {
    if (name == "type") {
      if (value.is_string() && value.get_string() == "object") continue;
      errors.push_back(meta::Invalid(
          path.ToString() + ".type", codec::WriteJson(value),
          "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled"));
      return;
    }
    if (std::find(kRootFields.begin(), kRootFields.end(), std::string_view(name)) != kRootFields.end()) continue;
    errors.push_back(meta::Invalid(
        path.ToString(), codec::WriteJson(openapi),
        fmt::format("only {} fields are allowed at the root of the schema if the status subresource is enabled",
                    kRootFieldNames)));
    return;
  }
}

}  // namespace

meta::FieldErrors ValidateSchema(const json::object& openapi, bool status, const Path& path,
                                 const ExpressionRules::Options& options) {
  meta::FieldErrors errors;
  if (status) CheckRoot(openapi, path, errors);
  if (Flag(openapi, "nullable"))
    errors.push_back(meta::Forbidden(path.ToString() + ".nullable", "nullable cannot be true at the root"));
  meta::FieldErrors structural = schema::CheckStructural(openapi, path);
  if (structural.empty()) structural = ValidateDefaults(openapi, path);
  // Expressions are compiled only for schemas whose structure and defaults are valid.
  const bool compile = structural.empty();
  errors.Append(std::move(structural));
  ExpressionRules expressions(options);
  SchemaRules rules(compile ? &expressions : nullptr);
  const ExpressionRules::Scope root(openapi);
  rules.Check(openapi, path, true, false, "", compile ? &root : nullptr);
  errors.Append(std::move(rules.errors));
  errors.Append(expressions.TakeErrors());
  errors.Append(expressions.CheckTotal(path));
  return errors;
}

}  // namespace apimesh::extensions_api
