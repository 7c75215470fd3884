#include "services/extensions-api/crd/version_rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "services/extensions-api/crd/schema_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;
using meta::Path;

constexpr char kColumnTypes[] = "boolean,date,integer,number,string";
constexpr char kColumnFormats[] = "byte,date,date-time,double,float,int32,int64,password";
constexpr std::size_t kMaxSelectableFields = 8;

void Append(FieldErrors& errors, FieldErrors more) { errors.Append(std::move(more)); }

bool Flag(const json::object& version, std::string_view name) {
  const json::value* value = meta::FindField(version, name);
  return value && value->is_bool() && value->get_bool();
}

/// Returns true if all versions have the same value, or none has one.
bool Shared(const std::vector<const json::object*>& versions, std::string_view field) {
  for (const json::object* version : versions) {
    const json::value* first = meta::FindField(*versions.front(), field);
    const json::value* other = meta::FindField(*version, field);
    if (version != versions.front() && !meta::Equal(first, other)) return false;
  }
  return true;
}

bool InList(std::string_view list, std::string_view one) {
  return fmt::format(",{},", list).find(fmt::format(",{},", one)) != std::string::npos;
}

/// A dotted path: ".spec.replicas". Anything after the first bracket is accepted.
FieldErrors CheckSimplePath(std::string_view text, const std::string& field) {
  if (!text.starts_with('.'))
    return {meta::Invalid(field, meta::Quoted(text), "must be a simple json path starting with .")};
  return {};
}

FieldErrors CheckSubresources(const json::value* subresources, const Path& path) {
  FieldErrors errors;
  const json::value* scale =
      subresources && subresources->is_object() ? meta::FindField(subresources->get_object(), "scale") : nullptr;
  if (!scale || !scale->is_object()) return errors;
  const auto check = [&](const char* name, std::initializer_list<std::string_view> prefixes, const char* detail,
                         bool needed) {
    const std::string field = path.ToString() + ".scale." + name;
    const std::string_view text = meta::FindString(scale->get_object(), name);
    if (text.empty()) {
      if (needed) errors.push_back(meta::Required(field, ""));
    } else if (FieldErrors simple = CheckSimplePath(text, field); !simple.empty()) {
      Append(errors, std::move(simple));
    } else if (std::none_of(prefixes.begin(), prefixes.end(),
                            [text](std::string_view prefix) { return text.starts_with(prefix); })) {
      errors.push_back(meta::Invalid(field, meta::Quoted(text), detail));
    }
  };
  check("specReplicasPath", {".spec."}, "should be a json path under .spec", true);
  check("statusReplicasPath", {".status."}, "should be a json path under .status", true);
  check("labelSelectorPath", {".spec.", ".status."}, "should be a json path under either .spec or .status", false);
  return errors;
}

FieldErrors CheckColumns(const json::value* columns, const Path& path) {
  FieldErrors errors;
  for (std::size_t i = 0; columns && columns->is_array() && i < columns->get_array().size(); ++i) {
    if (!columns->get_array()[i].is_object()) continue;
    const json::object& column = columns->get_array()[i].get_object();
    const Path at = path.Index(i);
    const std::string_view type = meta::FindString(column, "type"), format = meta::FindString(column, "format"),
                           json_path = meta::FindString(column, "jsonPath");
    if (meta::FindString(column, "name").empty()) errors.push_back(meta::Required(at.Child("name").ToString(), ""));
    const std::string must = fmt::format("must be one of {}", kColumnTypes);
    if (type.empty()) {
      errors.push_back(meta::Required(at.Child("type").ToString(), must));
    } else if (!InList(kColumnTypes, type)) {
      errors.push_back(meta::Invalid(at.Child("type").ToString(), meta::Quoted(type), must));
    }
    if (!format.empty() && !InList(kColumnFormats, format)) {
      errors.push_back(meta::Invalid(at.Child("format").ToString(), meta::Quoted(format),
                                     fmt::format("must be one of {}", kColumnFormats)));
    }
    const std::string field = at.Child("JSONPath").ToString();
    if (json_path.empty()) {
      errors.push_back(meta::Required(field, ""));
    } else {
      Append(errors, CheckSimplePath(json_path, field));
    }
  }
  return errors;
}

/// Returns the schema at a dotted path below `openapi`; nullptr if there is no such field.
const json::object* SchemaAt(const json::object& openapi, std::string_view dotted) {
  const json::object* here = &openapi;
  for (dotted.remove_prefix(dotted.starts_with('.') ? 1 : 0); here && !dotted.empty();) {
    const std::size_t dot = dotted.find('.');
    const json::value* next = meta::Find(*here, "properties", dotted.substr(0, dot));
    here = next ? next->if_object() : nullptr;
    dotted.remove_prefix(dot == std::string_view::npos ? dotted.size() : dot + 1);
  }
  return here;
}

FieldErrors CheckSelectableFields(const json::value* fields, const json::value* openapi, const Path& path) {
  FieldErrors errors;
  const bool some = fields && fields->is_array() && !fields->get_array().empty();
  if (some && !openapi) {
    errors.push_back(
        meta::Invalid(path.ToString(), meta::Quoted(""), "may only be set when validations.schema is included"));
    return errors;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; fields && fields->is_array() && i < fields->get_array().size(); ++i) {
    const json::value& one = fields->get_array()[i];
    const std::string text(one.is_object() ? meta::FindString(one.get_object(), "jsonPath") : std::string_view());
    const std::string field = path.Index(i).Child("jsonPath").ToString();
    if (text.empty()) {
      errors.push_back(meta::Required(field, ""));
      continue;
    }
    const json::object* found = openapi && openapi->is_object() ? SchemaAt(openapi->get_object(), text) : nullptr;
    const bool metadata = text == ".metadata" || text.starts_with(".metadata.");
    if (!found && !metadata) {
      errors.push_back(meta::Invalid(field, meta::Quoted(text), "is an invalid path: does not refer to a valid field"));
      continue;
    }
    if (metadata) errors.push_back(meta::Invalid(field, meta::Quoted(text), "must not point to fields in metadata"));
    const std::string_view type = found ? meta::FindString(*found, "type") : std::string_view("string");
    if (type != "string" && type != "boolean" && type != "integer") {
      errors.push_back(meta::Invalid(field, meta::Quoted(text),
                                     "must point to a field of type string, boolean or integer. Enum string fields and "
                                     "strings with formats are allowed."));
    }
    if (!seen.insert(text).second) errors.push_back(meta::Duplicate(field, meta::Quoted(text)));
  }
  if (seen.size() > kMaxSelectableFields)
    errors.push_back(meta::TooMany(path.ToString(), seen.size(), kMaxSelectableFields));
  return errors;
}

/// Formats spec.versions as kube-apiserver prints the Go type, whose shared fields are stored elsewhere.
std::string Shown(const meta::Object& crd, const std::vector<const json::object*>& versions) {
  const json::value* list = meta::Find(crd.Root(), "spec", "versions");
  if (!list || !list->is_array()) return "null";
  json::array all;
  for (const json::object* version : versions) {
    const json::value* warning = meta::FindField(*version, "deprecationWarning");
    all.emplace_back(json::object{{"Name", json::string(meta::FindString(*version, "name"))},
                                  {"Served", Flag(*version, "served")},
                                  {"Storage", Flag(*version, "storage")},
                                  {"Deprecated", Flag(*version, "deprecated")},
                                  {"DeprecationWarning", warning ? *warning : json::value()},
                                  {"Schema", nullptr},
                                  {"Subresources", nullptr},
                                  {"AdditionalPrinterColumns", nullptr},
                                  {"SelectableFields", nullptr}});
  }
  return codec::WriteJson(all);
}

FieldErrors CheckDeprecation(const json::object& version, const Path& path) {
  const json::value* warning = meta::FindField(version, "deprecationWarning");
  if (!warning || !warning->is_string()) return {};
  const auto invalid = [&](const char* why) {
    return FieldErrors{
        meta::Invalid(path.Child("deprecationWarning").ToString(), meta::Quoted(warning->get_string()), why)};
  };
  if (!Flag(version, "deprecated")) return invalid("can only be set for deprecated versions");
  if (warning->get_string().size() > 256) return invalid("must be <= 256 characters long");
  if (warning->get_string().empty()) return invalid("must not be an empty string");
  return {};
}

const json::object* FindVersion(const meta::Object& crd, std::string_view name) {
  for (const json::object* version : Versions(crd)) {
    if (meta::FindString(*version, "name") == name) return version;
  }
  return nullptr;
}

void CheckVersionName(const std::string& name, const std::string& field, FieldErrors& errors) {
  const meta::Complaints complaints = meta::CheckDns1035Label(name);
  if (complaints.empty()) return;
  errors.push_back(meta::Invalid(field, meta::Quoted(name), fmt::format("{}", fmt::join(complaints, ","))));
}

/// Validates the schema of a version, or the one that all versions share, at `path`.
FieldErrors CheckSchemaOf(const json::object& version, const Path& path, const meta::Object* old) {
  const json::value* openapi = meta::Find(version, "schema", "openAPIV3Schema");
  if (!openapi || !openapi->is_object()) return {};
  StoredExpressions stored;
  ExpressionRules::Options options;
  if (old && HasRules(openapi->get_object())) {
    stored = FindExpressions(*old);
    options.stored = &stored;
    const json::object* before = FindVersion(*old, meta::FindString(version, "name"));
    options.unchanged = before && meta::Equal(meta::Find(*before, "schema", "openAPIV3Schema"), openapi);
  }
  return ValidateSchema(openapi->get_object(), meta::Find(version, "subresources", "status") != nullptr,
                        path.Child("openAPIV3Schema"), options);
}

}  // namespace

std::vector<const json::object*> Versions(const meta::Object& crd) {
  std::vector<const json::object*> versions;
  const json::value* list = meta::Find(crd.Root(), "spec", "versions");
  if (!list || !list->is_array()) return versions;
  for (const json::value& one : list->get_array()) {
    if (one.is_object()) versions.push_back(&one.get_object());
  }
  return versions;
}

FieldErrors ValidateVersions(const meta::Object& crd, const meta::Object* old) {
  FieldErrors errors;
  const std::vector<const json::object*> versions = Versions(crd);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (meta::Find(*versions[i], "schema", "openAPIV3Schema")) continue;
    errors.push_back(meta::Required(fmt::format("spec.versions[{}].schema.openAPIV3Schema", i), ""));
  }
  std::size_t stored = 0;
  std::set<std::string> names;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const json::object& version = *versions[i];
    const Path path = Path("spec.versions").Index(i);
    const std::string name(meta::FindString(version, "name"));
    stored += Flag(version, "storage") ? 1 : 0;
    names.insert(name);
    CheckVersionName(name, path.Child("name").ToString(), errors);
    Append(errors, CheckDeprecation(version, path));
    if (!Shared(versions, "schema")) Append(errors, CheckSchemaOf(version, path.Child("schema"), old));
    if (!Shared(versions, "subresources"))
      Append(errors, CheckSubresources(meta::FindField(version, "subresources"), path.Child("subresources")));
    if (!Shared(versions, "additionalPrinterColumns")) {
      Append(errors, CheckColumns(meta::FindField(version, "additionalPrinterColumns"),
                                  path.Child("additionalPrinterColumns")));
    }
    if (!Shared(versions, "selectableFields")) {
      Append(errors,
             CheckSelectableFields(meta::FindField(version, "selectableFields"),
                                   meta::Find(version, "schema", "openAPIV3Schema"), path.Child("selectableFields")));
    }
  }
  if (names.size() != versions.size())
    errors.push_back(meta::Invalid("spec.versions", Shown(crd, versions), "must contain unique version names"));
  if (stored != 1)
    errors.push_back(meta::Invalid("spec.versions", Shown(crd, versions),
                                   "must have exactly one version marked as storage version"));
  // kube-apiserver also checks the field of v1beta1 in which it keeps the name of the first version.
  if (const std::string first(versions.empty() ? "" : meta::FindString(*versions.front(), "name")); !first.empty())
    CheckVersionName(first, "spec.version", errors);
  return errors;
}

FieldErrors ValidateSharedVersionFields(const meta::Object& crd, const meta::Object* old) {
  FieldErrors errors;
  const std::vector<const json::object*> versions = Versions(crd);
  if (versions.empty()) return errors;
  const json::object& any = *versions.front();
  if (Shared(versions, "schema")) Append(errors, CheckSchemaOf(any, Path("spec.validation"), old));
  if (Shared(versions, "subresources"))
    Append(errors, CheckSubresources(meta::FindField(any, "subresources"), Path("spec.subresources")));
  if (Shared(versions, "additionalPrinterColumns")) {
    Append(errors,
           CheckColumns(meta::FindField(any, "additionalPrinterColumns"), Path("spec.additionalPrinterColumns")));
  }
  if (Shared(versions, "selectableFields")) {
    Append(errors, CheckSelectableFields(meta::FindField(any, "selectableFields"),
                                         meta::Find(any, "schema", "openAPIV3Schema"), Path("spec.selectableFields")));
  }
  return errors;
}

}  // namespace apimesh::extensions_api
