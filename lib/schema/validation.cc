#include "lib/schema/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "lib/base/seeded_hash.h"
#include "lib/meta/equal.h"
#include "lib/meta/path_chain.h"
#include "lib/schema/formats.h"
#include "lib/schema/rules.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::FieldErrors;
using meta::PathChain;

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

std::string_view WantedType(const Node& node) {
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

/// How many values may be compared with schemas, counting each branch of anyOf, oneOf, allOf and not, and each value of an
/// enum. A document of 3 MB has at most 1.5 million values.
constexpr std::size_t kMaxSteps = 5'000'000;

/// Takes errors, or only notes that there was one.
class Findings {
 public:
  /// `errors` may be nullptr.
  explicit Findings(FieldErrors* errors) : errors_(errors) {}

  /// `make` returns the FieldError. It is called only where somebody wants the text.
  template <class Make>
  void Add(Make make) {
    if (errors_) errors_->push_back(make());
    any_ = true;
  }
  bool Any() const { return any_; }
  /// Whether there is no use in looking further.
  bool Done() const { return errors_ ? errors_->Full() : any_; }
  bool WantsTexts() const { return errors_ != nullptr; }

 private:
  FieldErrors* errors_;
  bool any_ = false;
};

class Validator {
 public:
  /// Whether the budget is spent: then not everything was checked, and the resource must be refused.
  bool Exhausted() const { return steps_ > kMaxSteps; }

  /// Checks in the reference's order: type, quantifiers, string, format, number, list, enum, object.
  void Check(const json::value& value, const Node& node, const PathChain& path, Findings& found) {
    // metadata of the resource has the schema of the built-in kinds and rules of its own.
    if (!node.custom || !node.rules || found.Done() || !Spend(1) || !CheckType(value, node, path, found)) return;
    CheckQuantifiers(value, *node.rules, path, found);
    if (value.is_string()) CheckString(value.get_string(), node, path, found);
    if (value.is_number()) CheckNumber(value, node, path, found);
    if (value.is_array()) CheckList(value.get_array(), node, path, found);
    CheckEnum(value, *node.rules, path, found);
    if (value.is_object()) CheckObject(value.get_object(), node, path, found);
  }

  void CheckQuantifiers(const json::value& value, const Node::Rules& rules, const PathChain& path, Findings& found) {
    CheckChoice(value, rules.any_of, path, found, [&](std::size_t valid) {
      return valid > 0 ? "" : fmt::format("{} must validate at least one schema (anyOf)", meta::Quoted(path.ToString()));
    });
    CheckChoice(value, rules.one_of, path, found, [&](std::size_t valid) {
      return valid == 1 ? ""
                        : fmt::format("{} must validate one and only one schema (oneOf). {}", meta::Quoted(path.ToString()),
                                      valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid));
    });
    std::size_t valid = 0;
    for (const Node* one : rules.all_of) {
      if (Fits(value, *one, path)) {
        ++valid;
      } else if (found.WantsTexts()) {
        FieldErrors errors = ErrorsOf(value, *one, path);
        for (const meta::FieldError& error : errors) found.Add([&error] { return error; });
      }
    }
    if (valid != rules.all_of.size()) {
      found.Add([&] {
        return General(fmt::format("{} must validate all the schemas (allOf){}", meta::Quoted(path.ToString()), valid == 0 ? ". None validated" : ""));
      });
    }
    if (rules.not_of && Fits(value, *rules.not_of, path)) {
      found.Add([&] { return General(fmt::format("{} must not validate the schema (not)", meta::Quoted(path.ToString()))); });
    }
  }

  void CheckObject(const json::object& object, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const auto size = static_cast<std::int64_t>(object.size());
    if (rules.min_properties && size < *rules.min_properties) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, fmt::format("{}", size), fmt::format("{} in body should have at least {} properties", at, *rules.min_properties));
      });
    }
    if (rules.max_properties && size > *rules.max_properties) {
      found.Add([&] { return meta::TooMany(path.ToString(), object.size(), static_cast<std::size_t>(*rules.max_properties)); });
    }
    for (const std::string& name : rules.required) {
      if (found.Done()) return;
      if (!object.contains(name)) found.Add([&] { return meta::Required(path.Child(name).ToString(), ""); });
    }
    for (const auto& [name, value] : object) {
      const Field* field = node.FindField(name);
      const Node* schema = field ? field->schema : node.items;
      if (schema) Check(value, *schema, path.Child(name), found);
    }
  }

 private:
  bool Spend(std::size_t steps) {
    steps_ += steps;
    return !Exhausted();
  }

  bool Fits(const json::value& value, const Node& node, const PathChain& path) {
    Findings found(nullptr);
    Check(value, node, path, found);
    return !found.Any();
  }

  FieldErrors ErrorsOf(const json::value& value, const Node& node, const PathChain& path) {
    FieldErrors errors;
    Findings found(&errors);
    Check(value, node, path, found);
    return errors;
  }

  /// anyOf and oneOf. `complain` says what is wrong with so many fitting schemas. If none fits, the errors of the one that
  /// fits best are shown: texts are made only then.
  template <class Complain>
  void CheckChoice(const json::value& value, const std::vector<const Node*>& choices, const PathChain& path, Findings& found, Complain complain) {
    if (choices.empty()) return;
    std::size_t valid = 0;
    for (const Node* choice : choices) valid += Fits(value, *choice, path);
    const std::string complaint = complain(valid);
    if (complaint.empty()) return;
    found.Add([&] { return General(complaint); });
    if (valid != 0 || !found.WantsTexts()) return;
    std::optional<FieldErrors> best;
    for (const Node* choice : choices) {
      FieldErrors errors = ErrorsOf(value, *choice, path);
      if (!best || errors.size() < best->size()) best = std::move(errors);
    }
    for (const meta::FieldError& error : *best) found.Add([&error] { return error; });
  }

  static bool CheckType(const json::value& value, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const std::string_view actual = TypeName(value);
    if (value.is_null() && rules.nullable) return false;
    const std::string_view wanted = WantedType(node);
    const bool fits = !rules.typed || wanted.empty() || wanted == actual || (wanted == "number" && actual == "integer") ||
                      (node.type == Type::kIntOrString && (actual == "integer" || actual == "string"));
    if (fits) return !value.is_null();
    found.Add([&] {
      const std::string at = path.ToString();
      return meta::TypeInvalid(at, meta::Quoted(actual), fmt::format("{} in body must be of type {}: {}", at, wanted, meta::Quoted(actual)));
    });
    if (wanted == "integer" && actual == "number") {
      found.Add([&] { return General(fmt::format("Checked value must be of type integer (default format) in {}", path.ToString())); });
    }
    return false;
  }

  static void CheckString(std::string_view text, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const auto length = static_cast<std::int64_t>(RuneCount(text));
    if (rules.max_length && length > *rules.max_length) {
      found.Add([&] { return meta::TooLong(path.ToString(), static_cast<std::size_t>(*rules.max_length)); });
    } else if (rules.min_length && length < *rules.min_length) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, meta::Quoted(text), fmt::format("{} in body should be at least {} chars long", at, *rules.min_length));
      });
    } else if (rules.compiled_pattern && !re2::RE2::PartialMatch({text.data(), text.size()}, *rules.compiled_pattern)) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, meta::Quoted(text), fmt::format("{} in body should match '{}'", at, rules.pattern));
      });
    }
    if (!node.format.empty() && !HasFormat(text, node.format)) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::TypeInvalid(at, meta::Quoted(text), fmt::format("{} in body must be of type {}: {}", at, node.format, meta::Quoted(text)));
      });
    }
  }

  static void CheckNumber(const json::value& value, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const auto number = value.to_number<double>();
    if (node.format == "int32" && (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max())) {
      found.Add([&] { return General(fmt::format("Checked value must be of type integer with format int32 in {}", path.ToString())); });
    }
    const auto complain = [&](std::string_view relation, double limit) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, ValueText(value), fmt::format("{} in body should be {} {}", at, relation, NumberText(limit)));
      });
    };
    if (rules.multiple_of) {
      // Whole values are divided by the whole part of the factor, as in the reference.
      const double factor = value.is_int64() ? std::trunc(*rules.multiple_of) : *rules.multiple_of;
      if (factor <= 0) {
        found.Add([&] {
          const std::string at = path.ToString(), shown = NumberText(factor);
          return meta::Invalid(at, shown, fmt::format("factor MultipleOf declared for {} must be positive: {}", at, shown));
        });
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

  void CheckList(const json::array& array, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const auto size = static_cast<std::int64_t>(array.size());
    for (std::size_t i = 0; node.items && i < array.size() && !found.Done(); ++i) Check(array[i], *node.items, path.Index(i), found);
    if (rules.min_items && size < *rules.min_items) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, fmt::format("{}", size), fmt::format("{} in body should have at least {} items", at, *rules.min_items));
      });
    }
    if (rules.max_items && size > *rules.max_items) {
      found.Add([&] { return meta::TooMany(path.ToString(), array.size(), static_cast<std::size_t>(*rules.max_items)); });
    }
    if (!rules.unique_items) return;
    std::set<std::string> seen;
    const auto repeated = [&seen](const json::value& one) { return !seen.insert(json::serialize(one)).second; };
    if (std::none_of(array.begin(), array.end(), repeated)) return;
    found.Add([&] {
      const std::string at = path.ToString();
      return meta::Invalid(at, "\"\"", fmt::format("{} in body shouldn't contain duplicates", at));
    });
  }

  void CheckEnum(const json::value& value, const Node::Rules& rules, const PathChain& path, Findings& found) {
    if (rules.enums.empty() || !Spend(rules.enums.size())) return;
    if (std::any_of(rules.enums.begin(), rules.enums.end(), [&value](const json::value& one) { return meta::Equal(one, value); })) return;
    found.Add([&] {
      std::vector<std::string> supported;
      for (const json::value& one : rules.enums) supported.push_back(one.is_string() ? std::string(one.get_string()) : json::serialize(one));
      return meta::NotSupported(path.ToString(), ValueText(value), supported);
    });
  }

  std::size_t steps_ = 0;
};

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

/// Items of sets and list maps that are there twice; one error for each of them.
void CheckDuplicates(const json::value& value, const Node& node, const PathChain& path, FieldErrors& errors) {
  if (!node.custom || errors.Full()) return;
  if (value.is_array() && node.items) {
    const json::array& array = value.get_array();
    std::unordered_map<std::string, std::size_t, SeededHash> seen;
    for (std::size_t i = 0; i < array.size() && !errors.Full(); ++i) {
      const PathChain at = path.Index(i);
      if (node.list_type != ListType::kAtomic) {
        std::string identity = node.list_type == ListType::kSet ? json::serialize(array[i]) : json::serialize(KeysOf(array[i], node));
        if (std::size_t& times = seen[identity]; ++times == 2) errors.push_back(meta::Duplicate(at.ToString(), std::move(identity)));
      }
      CheckDuplicates(array[i], *node.items, at, errors);
    }
  } else if (value.is_object()) {
    for (const auto& [name, child] : value.get_object()) {
      const Field* field = node.FindField(name);
      const Node* schema = field ? field->schema : node.type == Type::kList ? nullptr : node.items;
      if (schema) CheckDuplicates(child, *schema, field ? path.Child(name) : path.Key(name), errors);
    }
  }
}

}  // namespace

FieldErrors ValidateCustomResource(const json::object& resource, const Node& node) {
  FieldErrors errors;
  const PathChain root;
  if (node.rules) {
    const Node::Rules& rules = *node.rules;
    Validator validator;
    Findings found(&errors);
    // Quantifiers take a value; few schemas have any at the root.
    if (!rules.any_of.empty() || !rules.one_of.empty() || !rules.all_of.empty() || rules.not_of) {
      validator.CheckQuantifiers(json::value(resource), rules, root, found);
    }
    validator.CheckObject(resource, node, root, found);
    if (validator.Exhausted()) errors.push_back(General("the schema has too many alternatives for this many values"));
  }
  for (const auto& [name, value] : resource) {
    if (const Field* field = node.FindField(name)) CheckDuplicates(value, *field->schema, root.Child(name), errors);
  }
  return errors;
}

}  // namespace apimesh::schema
