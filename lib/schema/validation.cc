#include "lib/schema/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/schema/formats.h"
#include "lib/schema/rules.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

std::string_view TypeName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::int64:
    case json::kind::uint64: return "integer";
    case json::kind::double_: return value.get_double() == std::trunc(value.get_double()) ? "integer" : "number";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
  }
  return "";
}

std::string WantedType(const Node& node) {
  switch (node.type) {
    case Type::kObject:
    case Type::kMap: return "object";
    case Type::kList: return "array";
    case Type::kString: return "string";
    case Type::kInteger: return "integer";
    case Type::kNumber: return "number";
    case Type::kBoolean: return "boolean";
    case Type::kIntOrString: return "integer,string";
    default: return "";
  }
}

std::string NumberText(double value) {
  return value == std::trunc(value) && std::abs(value) < 1e15 ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value);
}

std::string ValueText(const json::value& value) {
  return value.is_string() ? meta::Quoted(std::string_view(value.get_string())) : value.is_double() ? NumberText(value.get_double()) : json::serialize(value);
}

std::size_t RuneCount(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// What is said of a value as a whole has no field of its own in the reference.
meta::FieldError General(std::string text) { return meta::Invalid("<nil>", "\"\"", std::move(text)); }

/// Checks in the reference's order: type, quantifiers, string, format, number, list, enum, object.
void Check(const json::value& value, const Node& node, const std::string& path, FieldErrors& errors);

bool CheckType(const json::value& value, const Node& node, const std::string& path, FieldErrors& errors) {
  const Node::Rules& rules = *node.rules;
  const std::string_view actual = TypeName(value);
  if (value.is_null() && rules.nullable) return false;
  const std::string wanted = WantedType(node);
  const bool fits = !rules.typed || wanted.empty() || wanted == actual || (wanted == "number" && actual == "integer") ||
                    (node.type == Type::kIntOrString && (actual == "integer" || actual == "string"));
  if (fits) return !value.is_null();
  errors.push_back(meta::TypeInvalid(path, meta::Quoted(actual), fmt::format("{} in body must be of type {}: {}", path, wanted, meta::Quoted(actual))));
  if (wanted == "integer" && actual == "number") errors.push_back(General(fmt::format("Checked value must be of type integer (default format) in {}", path)));
  return false;
}

void CheckQuantifiers(const json::value& value, const Node::Rules& rules, const std::string& path, FieldErrors& errors) {
  const auto run = [&](const Node* node) {
    FieldErrors found;
    Check(value, *node, path, found);
    return found;
  };
  const auto choose = [&](const std::vector<const Node*>& choices, FieldErrors& best) {
    std::size_t valid = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      FieldErrors found = run(choices[i]);
      if (found.empty()) ++valid;
      if (i == 0 || found.size() < best.size()) best = std::move(found);
    }
    return valid;
  };
  FieldErrors best;
  if (!rules.any_of.empty() && choose(rules.any_of, best) == 0) {
    errors.push_back(General(fmt::format("{} must validate at least one schema (anyOf)", meta::Quoted(path))));
    errors.insert(errors.end(), best.begin(), best.end());
  }
  if (!rules.one_of.empty()) {
    const std::size_t valid = choose(rules.one_of, best);
    if (valid != 1) {
      errors.push_back(General(fmt::format("{} must validate one and only one schema (oneOf). {}", meta::Quoted(path),
                                           valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid))));
      if (valid == 0) errors.insert(errors.end(), best.begin(), best.end());
    }
  }
  std::size_t valid = 0;
  for (const Node* one : rules.all_of) {
    const FieldErrors found = run(one);
    valid += found.empty();
    errors.insert(errors.end(), found.begin(), found.end());
  }
  if (valid != rules.all_of.size()) {
    errors.push_back(General(fmt::format("{} must validate all the schemas (allOf){}", meta::Quoted(path), valid == 0 ? ". None validated" : "")));
  }
  if (rules.not_of && run(rules.not_of).empty()) {
    errors.push_back(General(fmt::format("{} must not validate the schema (not)", meta::Quoted(path))));
  }
}

void CheckString(std::string_view text, const Node& node, const std::string& path, FieldErrors& errors) {
  const Node::Rules& rules = *node.rules;
  const auto length = static_cast<std::int64_t>(RuneCount(text));
  if (rules.max_length && length > *rules.max_length) {
    errors.push_back(meta::TooLong(path, static_cast<std::size_t>(*rules.max_length)));
  } else if (rules.min_length && length < *rules.min_length) {
    errors.push_back(meta::Invalid(path, meta::Quoted(text), fmt::format("{} in body should be at least {} chars long", path, *rules.min_length)));
  } else if (rules.compiled_pattern && !re2::RE2::PartialMatch({text.data(), text.size()}, *rules.compiled_pattern)) {
    errors.push_back(meta::Invalid(path, meta::Quoted(text), fmt::format("{} in body should match '{}'", path, rules.pattern)));
  }
  if (!node.format.empty() && !HasFormat(text, node.format)) {
    errors.push_back(meta::TypeInvalid(path, meta::Quoted(text), fmt::format("{} in body must be of type {}: {}", path, node.format, meta::Quoted(text))));
  }
}

void CheckNumber(const json::value& value, const Node& node, const std::string& path, FieldErrors& errors) {
  const Node::Rules& rules = *node.rules;
  const auto number = value.to_number<double>();
  if (node.format == "int32" && (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max())) {
    errors.push_back(General(fmt::format("Checked value must be of type integer with format int32 in {}", path)));
  }
  const std::string text = ValueText(value);
  const auto complain = [&](std::string_view relation, double limit) {
    errors.push_back(meta::Invalid(path, text, fmt::format("{} in body should be {} {}", path, relation, NumberText(limit))));
  };
  if (rules.multiple_of) {
    // Whole values are divided by the whole part of the factor, as in the reference.
    const double factor = value.is_int64() ? std::trunc(*rules.multiple_of) : *rules.multiple_of;
    if (factor <= 0) {
      errors.push_back(meta::Invalid(path, NumberText(factor), fmt::format("factor MultipleOf declared for {} must be positive: {}", path, NumberText(factor))));
    } else if (const double times = number / factor; std::abs(times - std::round(times)) > 1e-9) {
      complain("a multiple of", *rules.multiple_of);
    }
  }
  if (rules.maximum && (rules.exclusive_maximum ? number >= *rules.maximum : number > *rules.maximum)) {
    complain(rules.exclusive_maximum ? "less than" : "less than or equal to", *rules.maximum);
  }
  if (rules.minimum && (rules.exclusive_minimum ? number <= *rules.minimum : number < *rules.minimum)) {
    complain(rules.exclusive_minimum ? "greater than" : "greater than or equal to", *rules.minimum);
  }
}

void CheckList(const json::array& array, const Node& node, const std::string& path, FieldErrors& errors) {
  const Node::Rules& rules = *node.rules;
  const auto size = static_cast<std::int64_t>(array.size());
  for (std::size_t i = 0; node.items && i < array.size(); ++i) Check(array[i], *node.items, fmt::format("{}[{}]", path, i), errors);
  if (rules.min_items && size < *rules.min_items) {
    errors.push_back(meta::Invalid(path, fmt::format("{}", size), fmt::format("{} in body should have at least {} items", path, *rules.min_items)));
  }
  if (rules.max_items && size > *rules.max_items) {
    errors.push_back(meta::TooMany(path, array.size(), static_cast<std::size_t>(*rules.max_items)));
  }
  if (!rules.unique_items) return;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (std::find(array.begin(), array.begin() + static_cast<std::ptrdiff_t>(i), array[i]) == array.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    errors.push_back(meta::Invalid(path, "\"\"", fmt::format("{} in body shouldn't contain duplicates", path)));
    return;
  }
}

void CheckEnum(const json::value& value, const Node::Rules& rules, const std::string& path, FieldErrors& errors) {
  if (rules.enums.empty() || std::find(rules.enums.begin(), rules.enums.end(), value) != rules.enums.end()) return;
  std::vector<std::string> supported;
  for (const json::value& one : rules.enums) supported.push_back(one.is_string() ? std::string(one.get_string()) : json::serialize(one));
  errors.push_back(meta::NotSupported(path, ValueText(value), supported));
}

void CheckObject(const json::object& object, const Node& node, const std::string& path, FieldErrors& errors) {
  const Node::Rules& rules = *node.rules;
  const auto size = static_cast<std::int64_t>(object.size());
  const auto child = [&path](std::string_view name) { return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name); };
  if (rules.min_properties && size < *rules.min_properties) {
    errors.push_back(meta::Invalid(path, fmt::format("{}", size), fmt::format("{} in body should have at least {} properties", path, *rules.min_properties)));
  }
  if (rules.max_properties && size > *rules.max_properties) {
    errors.push_back(meta::TooMany(path, object.size(), static_cast<std::size_t>(*rules.max_properties)));
  }
  for (const std::string& name : rules.required) {
    if (!object.contains(name)) errors.push_back(meta::Required(child(name), ""));
  }
  for (const auto& [name, value] : object) {
    const Field* field = node.FindField(name);
    const Node* schema = field ? field->schema : node.items;
    if (schema) Check(value, *schema, child(name), errors);
  }
}

void Check(const json::value& value, const Node& node, const std::string& path, FieldErrors& errors) {
  // metadata of the resource has the schema of the built-in kinds and rules of its own.
  if (!node.custom || !node.rules || !CheckType(value, node, path, errors)) return;
  CheckQuantifiers(value, *node.rules, path, errors);
  if (value.is_string()) CheckString(value.get_string(), node, path, errors);
  if (value.is_number()) CheckNumber(value, node, path, errors);
  if (value.is_array()) CheckList(value.get_array(), node, path, errors);
  CheckEnum(value, *node.rules, path, errors);
  if (value.is_object()) CheckObject(value.get_object(), node, path, errors);
}

json::object KeysOf(const json::value& element, const Node& list) {
  json::object keys;
  for (const std::string& key : list.list_map_keys) {
    if (const json::value* value = element.is_object() ? meta::FindField(element.get_object(), key) : nullptr) {
      keys[key] = *value;
    } else if (const Field* field = list.items ? list.items->FindField(key) : nullptr; field && field->default_value) {
      keys[key] = *field->default_value;
    }
  }
  return keys;
}

void CheckDuplicates(const json::value& value, const Node& node, const std::string& path, FieldErrors& errors) {
  if (!node.custom) return;
  if (value.is_array() && node.items) {
    const json::array& array = value.get_array();
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      if (node.list_type != ListType::kAtomic) {
        const std::string identity = node.list_type == ListType::kSet ? json::serialize(array[i]) : json::serialize(KeysOf(array[i], node));
        if (std::count(seen.begin(), seen.end(), identity) == 1) errors.push_back(meta::Duplicate(at, identity));
        seen.push_back(identity);
      }
      CheckDuplicates(array[i], *node.items, at, errors);
    }
  } else if (value.is_object()) {
    for (const auto& [name, child] : value.get_object()) {
      const Field* field = node.FindField(name);
      const Node* schema = field ? field->schema : node.type == Type::kList ? nullptr : node.items;
      const std::string_view key = name;
      if (schema) CheckDuplicates(child, *schema, field ? fmt::format("{}.{}", path, key) : fmt::format("{}[{}]", path, key), errors);
    }
  }
}

}  // namespace

FieldErrors ValidateCustomResource(const json::object& resource, const Node& node) {
  FieldErrors errors;
  if (node.rules) {
    const Node::Rules& rules = *node.rules;
    // Quantifiers take a value; few schemas have any at the root.
    if (!rules.any_of.empty() || !rules.one_of.empty() || !rules.all_of.empty() || rules.not_of) {
      CheckQuantifiers(json::value(resource), rules, "", errors);
    }
    CheckObject(resource, node, "", errors);
  }
  for (const auto& [name, value] : resource) {
    if (const Field* field = node.FindField(name)) CheckDuplicates(value, *field->schema, name, errors);
  }
  return errors;
}

}  // namespace apimesh::schema
