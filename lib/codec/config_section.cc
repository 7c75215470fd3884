#include "lib/codec/config_section.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/codec/codec.h"
#include "lib/codec/looks_like_json.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

json::object ReadTyped(std::string_view text, std::span<const SectionType> types, Strictness* strict) {
  const meta::Result<json::value> parsed = ParseYaml(text, {}, strict);  // JSON is a subset of YAML
  if (!parsed) throw std::invalid_argument(parsed.error().Message());
  if (const std::string wrong = WrongType(*parsed, text, types); !wrong.empty()) throw std::invalid_argument(wrong);
  return parsed->get_object();
}

void ThrowIfAny(const std::vector<std::string>& complaints) {
  if (complaints.empty()) return;
  throw std::invalid_argument(fmt::format("strict decoding error: {}", fmt::join(complaints, ", ")));
}

constexpr std::string_view kAnyType = "runtime.Unknown";  // accepts every value

/// Returns the name of a JSON type in errors of Go.
std::string_view TypeOf(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "number";
}

/// Returns the type of the JSON values that a Go type is decoded from. Types that are not listed are objects.
std::string_view Expected(std::string_view go_type) {
  if (go_type.starts_with("[]")) return "array";
  if (go_type.starts_with("int") || go_type.starts_with("uint")) return "number";
  return go_type == "string" || go_type == "bool" ? go_type : "object";
}

/// Walks through a document. `path` has the names of the fields on the way, with indexes; `go_path` without.
struct FieldWalk {
  bool sorted;
  std::vector<std::string>& unknown;

  void CheckType(const json::value& value, const SectionStruct& in, const std::string& go_path, std::string_view type) {
    if (value.is_null() || TypeOf(value) == Expected(type)) return;
    throw std::invalid_argument(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                                            TypeOf(value), in.name, go_path, type));
  }

  void Value(const json::value& value, const SectionStruct& in, const SectionStruct::Field& field,
             const std::string& path, const std::string& go_path) {
    if (field.type == kAnyType) return;
    CheckType(value, in, go_path, field.type);
    if (value.is_object() && field.fields) Object(value.get_object(), *field.fields, path + ".", go_path + ".");
    if (!value.is_array()) return;
    const json::array& items = value.get_array();
    for (std::size_t i = 0; i < items.size(); ++i) {
      CheckType(items[i], in, go_path, field.type.substr(2));
      if (items[i].is_object() && field.fields)
        Object(items[i].get_object(), *field.fields, fmt::format("{}[{}].", path, i), go_path + ".");
    }
  }

  void Object(const json::object& object, const SectionStruct& known, const std::string& path,
              const std::string& go_path) {
    std::vector<const json::key_value_pair*> members;
    for (const json::key_value_pair& member : object) members.push_back(&member);
    if (sorted) std::sort(members.begin(), members.end(), [](auto* a, auto* b) { return a->key() < b->key(); });
    for (const json::key_value_pair* member : members) {
      const std::string name(member->key());
      const auto field = std::find_if(known.fields.begin(), known.fields.end(),
                                      [&name](const SectionStruct::Field& one) { return one.name == name; });
      if (field != known.fields.end()) {
        Value(member->value(), known, *field, path + name, go_path + name);
      } else if (!path.empty() || (name != "apiVersion" && name != "kind")) {
        unknown.push_back(fmt::format("unknown field {}", meta::Quoted(path + name)));
      }
    }
  }
};

}  // namespace

std::string WrongType(const json::value& document, std::string_view text, std::span<const SectionType> types) {
  static const json::object kNone;
  if (!document.is_object() && !document.is_null()) {
    return fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ "
        R"(APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }})",
        TypeOf(document));
  }
  const json::object& fields = document.is_object() ? document.get_object() : kNone;
  const std::string_view kind = meta::FindString(fields, "kind"), version = meta::FindString(fields, "apiVersion");
  if (kind.empty()) return fmt::format("Object 'Kind' is missing in '{}'", text);
  if (version.empty()) return fmt::format("Object 'apiVersion' is missing in '{}'", text);
  const bool known = std::any_of(types.begin(), types.end(), [version, kind](const SectionType& type) {
    return type.version == version && type.kind == kind;
  });
  if (known) return "";
  return fmt::format(R"(no kind {} is registered for version {} in scheme "pkg/runtime/scheme.go:111")",
                     meta::Quoted(kind), meta::Quoted(version));
}

json::object ReadSection(std::string_view text, std::span<const std::string_view> versions, std::string_view kind) {
  std::vector<SectionType> types;
  for (const std::string_view version : versions) types.push_back({version, kind});
  return ReadTyped(text, types, nullptr);
}

json::object ReadStrictSection(std::string_view text, std::span<const SectionType> types, const SectionStruct& fields) {
  Strictness strict;
  json::object document = ReadTyped(text, types, &strict);
  std::vector<std::string> complaints = strict.complaints;
  FindUnknownFields(document, fields, IsYaml(text), complaints);
  ThrowIfAny(complaints);
  return document;
}

void FindUnknownFields(const json::object& document, const SectionStruct& fields, bool sorted,
                       std::vector<std::string>& unknown) {
  FieldWalk{sorted, unknown}.Object(document, fields, "", "");
}

bool IsYaml(std::string_view text) { return !codec::LooksLikeJson(text); }

void CheckFields(const json::object& object, std::span<const std::string_view> known, std::string_view prefix) {
  std::vector<std::string> unknown;
  for (const auto& member : object) {
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end())
      unknown.push_back(fmt::format("unknown field {}", meta::Quoted(fmt::format("{}{}", prefix, member.key()))));
  }
  std::sort(unknown.begin(), unknown.end());
  ThrowIfAny(unknown);
}

}  // namespace apimesh::codec
