#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <re2/re2.h>

#include "lib/base/hash/seeded_hash.h"
#include "lib/schema/crd.h"
#include "lib/schema/crd_fields.h"
#include "lib/schema/values/patterns.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::Path;

enum class Level { kRoot, kItem, kField };

template <class Do>
void ForEachObject(const json::object& schema, std::string_view name, Do&& then) {
  const json::value* list = meta::FindField(schema, name);
  if (!list || !list->is_array()) return;
  std::size_t index = 0;
  for (const json::value& one : list->get_array()) {
    if (one.is_object()) then(one.get_object(), index);
    ++index;
  }
}

bool IsSet(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  if (!value || value->is_null()) return false;
  if (value->is_bool()) return value->get_bool();
  if (value->is_string()) return !value->get_string().empty();
  if (value->is_array()) return !value->get_array().empty();
  return true;
}

/// Returns whether the schema has an anyOf of integer and string, which is allowed next to x-kubernetes-int-or-string.
bool IsIntOrStringChoice(const json::object& schema) {
  const json::value* any_of = meta::FindField(schema, "anyOf");
  if (!any_of || !any_of->is_array() || any_of->get_array().size() != 2) return false;
  const json::array& choices = any_of->get_array();
  const auto is_only = [](const json::value& one, std::string_view type) {
    return one.is_object() && one.get_object().size() == 1 && meta::FindString(one.get_object(), "type") == type;
  };
  return is_only(choices[0], "integer") && is_only(choices[1], "string");
}

class StructuralCheck {
 public:
  meta::FieldErrors Take() {
    std::sort(errors_.begin(), errors_.end(), [](const meta::FieldError& a, const meta::FieldError& b) {
      return a.field + ": " + a.Message() < b.field + ": " + b.Message();
    });
    return std::move(errors_);
  }

  void Schema(const json::object& s, Level level, const Path& path) {
    if (errors_.Full()) return;
    const std::string_view type = meta::FindString(s, "type");
    const bool int_or_string = Flag(s, "x-kubernetes-int-or-string"),
               preserve = Flag(s, "x-kubernetes-preserve-unknown-fields");
    const bool embedded = Flag(s, "x-kubernetes-embedded-resource");
    const json::object* properties = ObjectAt(s, "properties");
    if (type == "array" && !ObjectAt(s, "items"))
      Add(meta::Required(path.Child("items").ToString(), "must be specified"));
    Children(s, level, path);
    if (int_or_string && preserve) {
      Add(meta::Invalid(path.Child("x-kubernetes-preserve-unknown-fields").ToString(), "true",
                        "must be false if x-kubernetes-int-or-string is true"));
    }
    if (int_or_string && embedded) {
      Add(meta::Invalid(path.Child("x-kubernetes-embedded-resource").ToString(), "true",
                        "must be false if x-kubernetes-int-or-string is true"));
    }
    Quantifiers(s, IsIntOrStringChoice(s), FirstAllOfIsChoice(s), path);
    CheckType(type, level, embedded, int_or_string || preserve, path);
    if (embedded && meta::FindField(s, "additionalProperties")) {
      Add(meta::Forbidden(path.Child("additionalProperties").ToString(),
                          "must not be used if x-kubernetes-embedded-resource is set"));
    }
    if (properties) CheckResourceFields(*properties, level, embedded, path);
    if (embedded && !preserve && (!properties || properties->empty())) {
      Add(meta::Required(
          path.Child("properties").ToString(),
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
    }
  }

  /// Checks that every field that a value validation names is specified in the structural part of the schema.
  void Complete(const json::object& v, const json::object& s, const Path& s_path, const Path& v_path) {
    if (const json::object* inner = ObjectAt(v, "not")) CompleteNested(*inner, s, s_path, v_path.Child("not"));
    for (const char* name : {"allOf", "anyOf", "oneOf"}) {
      ForEachObject(v, name, [&](const json::object& one, std::size_t i) {
        CompleteNested(one, s, s_path, v_path.Child(name).Index(i));
      });
    }
  }

 private:
  void Add(meta::FieldError error) { errors_.push_back(std::move(error)); }

  void Children(const json::object& s, Level level, const Path& path) {
    if (const json::object* items = ObjectAt(s, "items")) Schema(*items, Level::kItem, path.Child("items"));
    if (const json::object* properties = ObjectAt(s, "properties")) {
      for (const auto& [name, property] : *properties) {
        if (property.is_object()) Schema(property.get_object(), Level::kField, path.Child("properties").Key(name));
      }
    }
    const json::value* additional = meta::FindField(s, "additionalProperties");
    if (!additional) return;
    if (level == Level::kRoot)
      Add(meta::Forbidden(path.Child("additionalProperties").ToString(), "must not be used at the root"));
    if (additional->is_object()) Schema(additional->get_object(), Level::kField, path.Child("additionalProperties"));
  }

  void CheckType(std::string_view type, Level level, bool embedded, bool may_be_empty, const Path& path) {
    const auto field = [&path] { return path.Child("type").ToString(); };
    if (embedded && type != "object") {
      constexpr char kText[] = "must be object if x-kubernetes-embedded-resource is true";
      Add(type.empty() ? meta::Required(field(), kText) : meta::Invalid(field(), meta::Quoted(type), kText));
    } else if (type.empty() && !may_be_empty) {
      Add(meta::Required(field(), level == Level::kRoot   ? "must not be empty at the root"
                                  : level == Level::kItem ? "must not be empty for specified array items"
                                                          : "must not be empty for specified object fields"));
    }
    if (level == Level::kRoot && !type.empty() && type != "object")
      Add(meta::Invalid(field(), meta::Quoted(type), "must be object at the root"));
  }

  void CheckResourceFields(const json::object& properties, Level level, bool embedded, const Path& path) {
    const bool resource = level == Level::kRoot || embedded;
    for (const char* name : {"kind", "apiVersion"}) {
      const json::object* property = ObjectAt(properties, name);
      if (!resource || !property || meta::FindString(*property, "type") == "string") continue;
      Add(meta::Invalid(path.Child("properties").Key(name).Child("type").ToString(),
                        meta::Quoted(meta::FindString(*property, "type")), "must be string"));
    }
    const json::object* metadata = ObjectAt(properties, "metadata");
    if (!metadata) return;
    const Path at = path.Child("properties").Key("metadata");
    if (resource && meta::FindString(*metadata, "type") != "object") {
      Add(meta::Invalid(at.Child("type").ToString(), meta::Quoted(meta::FindString(*metadata, "type")),
                        "must be object"));
    }
    if (level == Level::kRoot && !OnlyNames(*metadata)) {
      Add(meta::Forbidden(
          at.ToString(),
          "must not specify anything other than name and generateName, but metadata is implicitly specified"));
    }
  }

  static bool OnlyNames(const json::object& metadata) {
    for (const auto& [key, value] : metadata) {
      if (key == "type" || key == "default" || value.is_null()) continue;
      if (key != "properties" || !value.is_object()) return false;
      for (const auto& [name, property] : value.get_object()) {
        if (name != "name" && name != "generateName") return false;
      }
    }
    return true;
  }

  static bool FirstAllOfIsChoice(const json::object& s) {
    const json::value* all_of = meta::FindField(s, "allOf");
    return all_of && all_of->is_array() && !all_of->get_array().empty() && all_of->get_array()[0].is_object() &&
           IsIntOrStringChoice(all_of->get_array()[0].get_object());
  }

  void Quantifiers(const json::object& s, bool skip_any_of, bool skip_first_all_of, const Path& path) {
    if (!skip_any_of) {
      ForEachObject(s, "anyOf",
                    [&](const json::object& one, std::size_t i) { Nested(one, false, path.Child("anyOf").Index(i)); });
    }
    ForEachObject(s, "allOf", [&](const json::object& one, std::size_t i) {
      Nested(one, skip_first_all_of && i == 0, path.Child("allOf").Index(i));
    });
    ForEachObject(s, "oneOf",
                  [&](const json::object& one, std::size_t i) { Nested(one, false, path.Child("oneOf").Index(i)); });
    if (const json::object* inner = ObjectAt(s, "not")) Nested(*inner, false, path.Child("not"));
    const std::string pattern(meta::FindString(s, "pattern"));
    if (pattern.empty()) return;
    if (pattern_instructions_ > kMaxPatternInstructions) return;
    std::shared_ptr<const re2::RE2>& compiled = patterns_[pattern];
    const bool seen = compiled != nullptr;
    if (!seen) compiled = CompilePattern(pattern);
    if (!compiled->ok()) {
      Add(meta::Invalid(path.Child("pattern").ToString(), meta::Quoted(pattern),
                        "must be a valid regular expression, but isn't: error parsing regexp: " + compiled->error()));
      return;
    }
    if (seen) return;
    pattern_instructions_ += static_cast<std::size_t>(compiled->ProgramSize());
    if (pattern_instructions_ > kMaxPatternInstructions)
      Add(meta::Invalid(path.Child("pattern").ToString(), meta::Quoted(pattern),
                        fmt::format("the patterns of the schema must have at most {} instructions together",
                                    kMaxPatternInstructions)));
  }

  void Nested(const json::object& v, bool skip_any_of, const Path& path) {
    if (errors_.Full()) return;
    Quantifiers(v, skip_any_of, false, path);
    if (const json::object* items = ObjectAt(v, "items")) Nested(*items, false, path.Child("items"));
    if (const json::object* properties = ObjectAt(v, "properties")) {
      for (const auto& [name, property] : *properties) {
        if (property.is_object()) Nested(property.get_object(), false, path.Child("properties").Key(name));
      }
      if (properties->contains("metadata")) {
        Add(meta::Forbidden(path.Child("properties").Key("metadata").ToString(),
                            "must not be specified in a nested context"));
      }
    }
    static constexpr std::pair<const char*, const char*> kForbidden[] = {
        {"type", "must be empty to be structural"},
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"}};
    for (const auto& [name, text] : kForbidden) {
      if (IsSet(v, name)) Add(meta::Forbidden(path.Child(name).ToString(), text));
    }
  }

  void CompleteNested(const json::object& v, const json::object& s, const Path& s_path, const Path& v_path) {
    if (errors_.Full()) return;
    Complete(v, s, s_path, v_path);
    const auto missing = [&](const Path& where, const Path& from) {
      Add(meta::Required(where.ToString(), "because it is defined in " + from.ToString()));
    };
    if (const json::object* items = ObjectAt(v, "items")) {
      const json::object* known = ObjectAt(s, "items");
      known ? CompleteNested(*items, *known, s_path.Child("items"), v_path.Child("items"))
            : missing(s_path.Child("items"), v_path.Child("items"));
    }
    const json::object* properties = ObjectAt(v, "properties");
    if (!properties) return;
    const json::object* all = ObjectAt(s, "properties");
    for (const auto& [name, property] : *properties) {
      if (!property.is_object()) continue;
      const json::object* known = all ? ObjectAt(*all, name) : nullptr;
      const Path where = s_path.Child("properties").Key(name), from = v_path.Child("properties").Key(name);
      known ? CompleteNested(property.get_object(), *known, where, from) : missing(where, from);
    }
  }

  std::unordered_map<std::string, std::shared_ptr<const re2::RE2>, SeededHash> patterns_;
  std::size_t pattern_instructions_ = 0;
  meta::FieldErrors errors_;
};

}  // namespace

meta::FieldErrors CheckStructural(const json::object& openapi, const Path& path) {
  StructuralCheck check;
  check.Schema(openapi, Level::kRoot, path);
  check.Complete(openapi, openapi, path, path);
  return check.Take();
}

}  // namespace apimesh::schema
