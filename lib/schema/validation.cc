#include "lib/schema/validation.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/meta/equal.h"
#include "lib/meta/errors/path_chain.h"
#include "lib/meta/json_text.h"
#include "lib/schema/rules.h"
#include "lib/schema/values/findings.h"
#include "lib/schema/values/number_rules.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::FieldError;
using meta::FieldErrors;
using meta::PathChain;

std::string_view TypeName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::int64:
    case json::kind::uint64: return "integer";
    case json::kind::double_: return "number";
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

std::string ValueText(const json::value& value) {
  return value.is_string()   ? meta::Quoted(std::string_view(value.get_string()))
         : value.is_double() ? NumberText(value.get_double())
                             : json::serialize(value);
}

std::size_t RuneCount(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The maximum number of comparisons of a value with a schema, counting each branch of anyOf, oneOf, allOf and not, and
/// each value of an enum. A document of 3 MB has at most 1.5 million values.
constexpr std::size_t kMaxSteps = 5'000'000;

bool IsTextFormat(Format format) {
  return format != Format::kNone && format != Format::kInt32 && format != Format::kInt64 && format != Format::kFloat &&
         format != Format::kDouble;
}

class Validator {
 public:
  /// With `correlation`, the values that an update replaces are known, and errors of unchanged values are left out.
  explicit Validator(Correlation* correlation = nullptr) : correlation_(correlation) {}

  /// Returns whether the budget is used up. Not everything was checked then, and the resource must be refused.
  bool Exhausted() const { return steps_ > kMaxSteps; }

  /// Checks a value. `before` is the value that it replaces, if that is known.
  void Check(const json::value& value, const Node& node, const PathChain& path, Findings& found,
             const json::value* before = nullptr) {
    if (!before) return CheckValue(value, node, path, found, nullptr);
    FieldErrors errors;
    Findings own(&errors);
    CheckValue(value, node, path, own, before);
    if (own.Any() && !correlation_->Unchanged(value, *before, node)) found.Append(std::move(errors));
  }

  /// Checks a value in kube-apiserver's order: type, quantifiers, string, format, number, list, enum, object. A wrong
  /// type does not end the checks. The checks are counted as kube-apiserver counts them.
  void CheckValue(const json::value& value, const Node& node, const PathChain& path, Findings& found,
                  const json::value* before) {
    // The metadata of the resource has the schema of the built-in kinds and is validated separately, unless the schema
    // restricts it (Node::Rules::metadata).
    if (!node.custom || !node.rules || found.Done() || !Spend(1)) return;
    CheckType(value, node, path, found);
    if (!value.is_null()) {
      CheckQuantifiers(value, *node.rules, path, found);
      found.Count(3);  // the quantifiers, the enum and the value as a whole
      if (value.is_string()) CheckString(value.get_string(), node, path, found);
      if (value.is_number()) {
        CheckNumber(value, node, path, found);
        found.Count(2);
      }
      if (value.is_array()) CheckList(value.get_array(), node, path, found, before);
    }
    CheckEnum(value, *node.rules, path, found);
    if (value.is_object())
      CheckObject(value.get_object(), node, path, found, before ? before->if_object() : nullptr, false);
  }

  void CheckQuantifiers(const json::value& value, const Node::Rules& rules, const PathChain& path, Findings& found) {
    CheckAnyOf(value, rules.any_of, path, found);
    CheckOneOf(value, rules.one_of, path, found);
    std::size_t valid = 0;
    for (const Node* one : rules.all_of) {
      const Outcome outcome = Try(value, *one, path);
      valid += outcome.fits;
      if (outcome.fits) {
        found.Count(outcome.checks);
      } else if (found.WantsTexts()) {
        MergeErrors(value, Choices(&one, 1), path, found);
      }
    }
    if (valid != rules.all_of.size()) {
      found.Add([&] {
        return GeneralError(fmt::format("{} must validate all the schemas (allOf){}", meta::Quoted(path.ToString()),
                                        valid == 0 ? ". None validated" : ""));
      });
    }
    if (rules.not_of && Try(value, *rules.not_of, path).fits) {
      found.Add([&] {
        return GeneralError(fmt::format("{} must not validate the schema (not)", meta::Quoted(path.ToString())));
      });
    }
    found.Count(1);
  }

  void CheckObject(const json::object& object, const Node& node, const PathChain& path, Findings& found,
                   const json::object* before, bool root) {
    const Node::Rules& rules = *node.rules;
    const auto size = static_cast<std::int64_t>(object.size());
    if (rules.min_properties && size < *rules.min_properties) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, fmt::format("{}", size),
                             fmt::format("{} in body should have at least {} properties", at, *rules.min_properties));
      });
    }
    if (rules.max_properties && size > *rules.max_properties) {
      found.Add([&] {
        return meta::TooMany(path.ToString(), object.size(), static_cast<std::size_t>(*rules.max_properties));
      });
    }
    for (const auto& [name, value] : object) {
      const Field* field = node.FindField(name);
      const Node* schema = field ? field->schema : node.type == Type::kList ? nullptr : node.items;
      if (rules.metadata && name == "metadata") schema = rules.metadata;
      if (!schema) continue;
      // An update can't show whether the type of a resource changes, because the old object is converted to it.
      const bool correlated = before && !(root && (name == "apiVersion" || name == "kind"));
      Check(value, *schema, path.Child(name), found, correlated ? Correlation::Field(*before, node, name) : nullptr);
    }
    for (const std::string& name : rules.required) {
      if (found.Done()) return;
      if (!object.contains(name)) found.Add([&] { return meta::Required(path.Child(name).ToString(), ""); });
    }
    found.Count(1);
  }

 private:
  bool Spend(std::size_t steps) {
    steps_ += Interrupted() ? kMaxSteps + 1 : steps;  // the result is no longer needed
    return !Exhausted();
  }

  struct Outcome {
    bool fits;
    std::size_t checks;
  };
  using Choices = std::span<const Node* const>;

  Outcome Try(const json::value& value, const Node& node, const PathChain& path) {
    Findings found(nullptr);
    Check(value, node, path, found);
    return {!found.Any(), found.Checks()};
  }

  /// Reports the errors of the schema that made the most checks; none of the schemas matches the value.
  void MergeErrors(const json::value& value, Choices choices, const PathChain& path, Findings& found) {
    std::optional<FieldErrors> best;
    std::size_t most = 0;
    for (const Node* choice : choices) {
      FieldErrors errors;
      Findings one(&errors);
      Check(value, *choice, path, one);
      if (best && one.Checks() <= most) continue;
      best = std::move(errors);
      most = one.Checks();
    }
    if (best) found.Merge(*best, most);
  }

  void CheckAnyOf(const json::value& value, Choices choices, const PathChain& path, Findings& found) {
    if (choices.empty()) return;
    for (const Node* choice : choices) {
      const Outcome outcome = Try(value, *choice, path);
      if (outcome.fits) return found.Count(outcome.checks);
    }
    found.Add([&] {
      return GeneralError(fmt::format("{} must validate at least one schema (anyOf)", meta::Quoted(path.ToString())));
    });
    if (found.WantsTexts()) MergeErrors(value, choices, path, found);
  }

  void CheckOneOf(const json::value& value, Choices choices, const PathChain& path, Findings& found) {
    if (choices.empty()) return;
    std::size_t valid = 0, checks = 0;
    for (const Node* choice : choices) {
      const Outcome outcome = Try(value, *choice, path);
      if (outcome.fits && ++valid == 1) checks = outcome.checks;
    }
    if (valid == 1) return found.Count(checks);
    found.Add([&] {
      return GeneralError(
          fmt::format("{} must validate one and only one schema (oneOf). {}", meta::Quoted(path.ToString()),
                      valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid)));
    });
    if (valid == 0 && found.WantsTexts()) MergeErrors(value, choices, path, found);
  }

  static void ComplainOfType(std::string_view wanted, std::string_view actual, const PathChain& path, Findings& found) {
    found.Add([&] {
      const std::string at = path.ToString();
      return meta::TypeInvalid(at, meta::Quoted(actual),
                               fmt::format("{} in body must be of type {}: {}", at, wanted, meta::Quoted(actual)));
    });
  }

  static void CheckType(const json::value& value, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const std::string_view wanted = rules.typed ? WantedType(node) : std::string_view();
    const bool formatted = rules.format != Format::kNone;
    if (wanted.empty() && !formatted) return;
    const std::string_view actual = TypeName(value);
    if (value.is_null()) {
      if (!wanted.empty() && !rules.nullable) return ComplainOfType(wanted, actual, path, found);
      return found.Count(1);
    }
    found.Count(1);
    const bool integer = node.type == Type::kInteger || node.type == Type::kIntOrString;
    const bool fits = wanted == actual || (wanted == "number" && actual == "integer") ||
                      (integer && (actual == "integer" || (value.is_double() && IsInteger(value.get_double())))) ||
                      (node.type == Type::kIntOrString && actual == "string");
    const bool text = value.is_string() || value.is_array();
    if (!fits && formatted && !text) {
      // kube-apiserver compares the formats of values that are neither texts nor lists.
      const std::string_view format = value.is_double() ? "float64" : value.is_number() ? "int64" : "";
      return ComplainOfType(node.format, format, path, found);
    }
    // kube-apiserver accepts texts and lists where a text with a format is expected; the format is checked later.
    if (!fits && !(formatted && text && !integer && wanted != "number"))
      return ComplainOfType(wanted, actual, path, found);
    found.Count(1);
  }

  static void CheckString(std::string_view text, const Node& node, const PathChain& path, Findings& found) {
    const Node::Rules& rules = *node.rules;
    const auto length = static_cast<std::int64_t>(RuneCount(text));
    if (rules.max_length && length > *rules.max_length) {
      found.Add([&] { return meta::TooLong(path.ToString(), static_cast<std::size_t>(*rules.max_length)); });
    } else if (rules.min_length && length < *rules.min_length) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, meta::Quoted(text),
                             fmt::format("{} in body should be at least {} chars long", at, *rules.min_length));
      });
    } else if (rules.compiled_pattern && !re2::RE2::PartialMatch({text.data(), text.size()}, *rules.compiled_pattern)) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, meta::Quoted(text), fmt::format("{} in body should match '{}'", at, rules.pattern));
      });
    }
    found.Count(IsTextFormat(rules.format) ? 2 : 1);
    if (!HasFormat(text, rules.format)) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::TypeInvalid(at, meta::Quoted(text),
                                 fmt::format("{} in body must be of type {}: {}", at, node.format, meta::Quoted(text)));
      });
    }
  }

  void CheckList(const json::array& array, const Node& node, const PathChain& path, Findings& found,
                 const json::value* before) {
    const Node::Rules& rules = *node.rules;
    const auto size = static_cast<std::int64_t>(array.size());
    const Node* items = node.type == Type::kMap || node.type == Type::kObject ? nullptr : node.items;
    for (std::size_t i = 0; items && i < array.size() && !found.Done(); ++i)
      Check(array[i], *items, path.Index(i), found, before ? correlation_->Item(array[i], *before, node) : nullptr);
    if (rules.min_items && size < *rules.min_items) {
      found.Add([&] {
        const std::string at = path.ToString();
        return meta::Invalid(at, fmt::format("{}", size),
                             fmt::format("{} in body should have at least {} items", at, *rules.min_items));
      });
    }
    if (rules.max_items && size > *rules.max_items) {
      found.Add(
          [&] { return meta::TooMany(path.ToString(), array.size(), static_cast<std::size_t>(*rules.max_items)); });
    }
    found.Count(2);
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
    // A null matches no value of an enum, not even null.
    if (!value.is_null() && std::any_of(rules.enums.begin(), rules.enums.end(),
                                        [&value](const json::value& one) { return meta::Equal(one, value); }))
      return;
    found.Add([&] {
      std::vector<std::string> supported;
      for (const json::value& one : rules.enums)
        supported.push_back(one.is_string() ? std::string(one.get_string()) : json::serialize(one));
      return meta::NotSupported(path.ToString(), ValueText(value), supported);
    });
  }

  Correlation* const correlation_;
  std::size_t steps_ = 0;
};

FieldErrors Exhausted(const Validator& validator, FieldErrors errors) {
  if (validator.Exhausted())
    errors.push_back(GeneralError("the schema has too many alternatives for this many values"));
  return errors;
}

FieldErrors ValidateObject(const json::object& resource, const Node& node, const json::object* before,
                           Correlation* correlation) {
  FieldErrors errors;
  if (!node.rules) return errors;
  const PathChain root;
  const Node::Rules& rules = *node.rules;
  Validator validator(correlation);
  Findings found(&errors);
  // CheckQuantifiers() takes a json::value, so the resource is copied; few schemas have quantifiers at the root.
  if (!rules.any_of.empty() || !rules.one_of.empty() || !rules.all_of.empty() || rules.not_of) {
    validator.CheckQuantifiers(json::value(resource), rules, root, found);
  }
  validator.CheckObject(resource, node, root, found, before, true);
  return Exhausted(validator, std::move(errors));
}

FieldErrors ValidateStatus(const json::value& status, const Node& node, const json::value* before,
                           Correlation* correlation) {
  FieldErrors errors;
  Validator validator(correlation);
  Findings found(&errors);
  validator.Check(status, node, PathChain(), found, before);
  return Exhausted(validator, std::move(errors));
}

}  // namespace

FieldErrors ValidateCustomResource(const json::object& resource, const Node& node) {
  return ValidateObject(resource, node, nullptr, nullptr);
}

FieldErrors ValidateCustomResourceUpdate(const json::object& resource, const json::object& before, const Node& node,
                                         Correlation& correlation) {
  // Most objects are valid, so the old object is looked at only if there is an error.
  FieldErrors errors = ValidateObject(resource, node, nullptr, nullptr);
  return errors.empty() ? errors : ValidateObject(resource, node, &before, &correlation);
}

FieldErrors ValidateStatusUpdate(const json::object& resource, const json::object& before, const Node& node,
                                 Correlation& correlation) {
  const json::value* status = meta::FindField(resource, "status");
  const Field* field = node.FindField("status");
  if (!status || !field) return {};
  FieldErrors errors = ValidateStatus(*status, *field->schema, nullptr, nullptr);
  if (errors.empty()) return errors;
  if (const json::value* old = Correlation::Field(before, node, "status"))
    errors = ValidateStatus(*status, *field->schema, old, &correlation);
  for (FieldError& error : errors)
    error.field = error.field.empty() || error.field == kNoField ? "status" : "status." + error.field;
  return errors;
}

}  // namespace apimesh::schema
