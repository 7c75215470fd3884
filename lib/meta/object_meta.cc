#include "lib/meta/object_meta.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/equal.h"
#include "lib/meta/time.h"

namespace apimesh::meta {
namespace {

/// Events expire; objects that they own would be garbage-collected with them.
const Gvk& BannedOwner() {
  static const Gvk event{"", "v1", "Event"};
  return event;
}

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

void Append(FieldErrors& errors, FieldErrors more) { errors.Append(std::move(more)); }

void AppendComplaints(FieldErrors& errors, const Path& path, std::string_view value, const Complaints& complaints) {
  for (const std::string& complaint : complaints) errors.push_back(Invalid(path.ToString(), Quoted(value), complaint));
}

std::vector<std::string> Strings(const json::value* list) {
  std::vector<std::string> out;
  if (!list || !list->is_array()) return out;
  for (const json::value& one : list->get_array()) {
    if (one.is_string()) out.emplace_back(one.get_string());
  }
  return out;
}

std::int64_t Integer(const json::object& object, std::string_view name) {
  const json::value* value = FindField(object, name);
  return value && value->is_int64() ? value->get_int64() : 0;
}

/// The checks that creation and update share.
FieldErrors ValidateCommon(const json::object& metadata, const Path& path) {
  FieldErrors errors = ValidateLabels(FindField(metadata, "labels"), path.Child("labels"));
  Append(errors, ValidateAnnotations(FindField(metadata, "annotations"), path.Child("annotations")));
  Append(errors, ValidateOwnerReferences(FindField(metadata, "ownerReferences"), path.Child("ownerReferences")));
  return errors;
}

void RequireSame(FieldErrors& errors, const json::object& metadata, const json::object& old, std::string_view name,
                 const Path& path) {
  static const json::value null;
  const auto get = [&](const json::object& from) -> const json::value& {
    const json::value* value = FindField(from, name);
    return value && !(value->is_string() && value->get_string().empty()) ? *value : null;
  };
  const json::value& now = get(metadata);
  const json::value& before = get(old);
  if (Equal(now, before)) return;
  if (now.is_string() && before.is_string()) {
    // The same instant can have two texts.
    const auto a = ParseTime(std::string_view(now.get_string()));
    const auto b = ParseTime(std::string_view(before.get_string()));
    if (a && b && *a == *b) return;
  }
  const bool text = name == "name" || name == "namespace" || name == "uid";
  std::string shown = now.is_null() && text ? "\"\""
                      : now.is_string()     ? Quoted(now.get_string())
                                            : json::serialize(now);
  errors.push_back(Invalid(path.Child(name).ToString(), std::move(shown), "field is immutable"));
}

/// Decodes the first character of UTF-8 text and returns it with its size; 0xFFFD for invalid bytes.
std::pair<std::uint32_t, std::size_t> Decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || text.size() < size) return {0xfffd, 1};
  std::uint32_t c = first & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0xfffd, 1};
    c = (c << 6) | (byte(i) & 0x3f);
  }
  return {c, size};
}

bool IsPrintable(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad) return false;
  if (c >= 0x2000 && c <= 0x200f) return false;  // spaces of other widths, joiners, direction marks
  if (c >= 0x2028 && c <= 0x202f) return false;
  if (c >= 0x205f && c <= 0x206f) return false;
  return c != 0x1680 && c != 0x3000 && c != 0xfeff && !(c >= 0xe000 && c <= 0xf8ff);
}

}  // namespace

FieldErrors ValidateLabels(const json::value* labels, const Path& path) {
  FieldErrors errors;
  if (!labels || !labels->is_object()) return errors;
  for (const auto& [key, value] : labels->get_object()) {
    if (errors.Full()) break;
    AppendComplaints(errors, path, key, CheckQualifiedName(key));
    if (value.is_string()) AppendComplaints(errors, path, value.get_string(), CheckLabelValue(value.get_string()));
  }
  return errors;
}

FieldErrors ValidateAnnotations(const json::value* annotations, const Path& path) {
  FieldErrors errors;
  if (!annotations || !annotations->is_object()) return errors;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations->get_object()) {
    if (errors.Full()) break;
    AppendComplaints(errors, path, key, CheckQualifiedName(LowerCase(key)));
    bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
  }
  if (bytes > kMaxAnnotationBytes) errors.push_back(TooLong(path.ToString(), kMaxAnnotationBytes));
  return errors;
}

FieldErrors ValidateOwnerReferences(const json::value* references, const Path& path) {
  FieldErrors errors;
  if (!references || !references->is_array()) return errors;
  std::string controller;
  std::string all;  // every error about controllers shows all references
  for (const json::value& one : references->get_array()) {
    if (errors.Full()) break;
    if (!one.is_object()) continue;
    const json::object& reference = one.get_object();
    const std::string_view kind = FindString(reference, "kind");
    const auto require = [&](std::string_view field, std::string_view value, std::string_view why) {
      errors.push_back(Invalid(path.Child(field).ToString(), Quoted(value), std::string(why)));
    };
    const std::string_view api_version = FindString(reference, "apiVersion");
    const bool well_formed = std::count(api_version.begin(), api_version.end(), '/') < 2;
    const GroupVersion version = well_formed ? GroupVersion::Parse(api_version) : GroupVersion();
    if (version.version.empty()) require("apiVersion", api_version, "version must not be empty");
    if (kind.empty()) require("kind", kind, "must not be empty");
    if (FindString(reference, "name").empty()) require("name", "", "must not be empty");
    if (FindString(reference, "uid").empty()) require("uid", "", "must not be empty");
    if (const Gvk owner{version.group, version.version, std::string(kind)}; owner == BannedOwner()) {
      errors.push_back(Invalid(path.ToString(), json::serialize(reference),
                               owner.ToString() + " is disallowed from being an owner"));
    }
    const json::value* is_controller = FindField(reference, "controller");
    if (!is_controller || !is_controller->is_bool() || !is_controller->get_bool()) continue;
    std::string name = fmt::format("{}/{}", kind, FindString(reference, "name"));
    if (controller.empty()) {
      controller = std::move(name);
    } else {
      if (all.empty()) all = json::serialize(*references);
      errors.push_back(Invalid(path.ToString(), all,
                               fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                                           "references for {} and {}",
                                           controller, name)));
    }
  }
  return errors;
}

FieldErrors ValidateFinalizers(const json::value* finalizers, const Path& path) {
  FieldErrors errors;
  if (!finalizers || !finalizers->is_array()) return errors;
  const json::array& names = finalizers->get_array();
  for (const json::value& name : names) {
    if (errors.Full()) break;
    if (name.is_string()) AppendComplaints(errors, path, name.get_string(), CheckQualifiedName(name.get_string()));
  }
  const auto has = [&](std::string_view text) {
    return std::any_of(names.begin(), names.end(), [text](const json::value& name) {
      return name.is_string() && std::string_view(name.get_string()) == text;
    });
  };
  if (has(kOrphan) && has(kForeground)) {
    errors.push_back(Invalid(path.ToString(), json::serialize(*finalizers),
                             fmt::format("finalizer {} and {} cannot be both set", kOrphan, kForeground)));
  }
  return errors;
}

FieldErrors ValidateFieldManager(std::string_view manager, const Path& path) {
  FieldErrors errors;
  if (manager.size() > 128) errors.push_back(TooLong(path.ToString(), 128));
  for (std::size_t i = 0; i < manager.size();) {
    const auto [c, size] = Decode(manager.substr(i));
    if (!IsPrintable(c)) {
      errors.push_back(
          Invalid(path.ToString(), Quoted(manager), fmt::format("invalid character U+{:04X} (at position {})", c, i)));
    }
    i += size;
  }
  return errors;
}

FieldErrors ValidateManagedFields(const json::value* entries, const Path& path) {
  FieldErrors errors;
  if (!entries || !entries->is_array()) return errors;
  std::size_t index = 0;
  for (const json::value& one : entries->get_array()) {
    const Path here = path.Index(index++);
    if (errors.Full()) break;
    if (!one.is_object()) continue;
    const json::object& entry = one.get_object();
    const std::string_view operation = FindString(entry, "operation");
    if (operation != "Apply" && operation != "Update") {
      errors.push_back(Invalid(here.Child("operation").ToString(), Quoted(operation), "must be `Apply` or `Update`"));
    }
    const std::string_view type = FindString(entry, "fieldsType");
    if (!type.empty() && type != "FieldsV1") {
      errors.push_back(Invalid(here.Child("fieldsType").ToString(), Quoted(type), "must be `FieldsV1`"));
    }
    Append(errors, ValidateFieldManager(FindString(entry, "manager"), here.Child("manager")));
    if (FindString(entry, "subresource").size() > 256)
      errors.push_back(TooLong(here.Child("subresource").ToString(), 256));
  }
  return errors;
}

FieldErrors ValidateLabelSelector(const json::object& selector, const Path& path) {
  FieldErrors errors = ValidateLabels(FindField(selector, "matchLabels"), path.Child("matchLabels"));
  const json::value* expressions = FindField(selector, "matchExpressions");
  if (!expressions || !expressions->is_array()) return errors;
  std::size_t index = 0;
  for (const json::value& one : expressions->get_array()) {
    const Path here = path.Child("matchExpressions").Index(index++);
    if (!one.is_object()) continue;
    const json::object& expression = one.get_object();
    const std::string_view op = FindString(expression, "operator");
    const std::vector<std::string> values = Strings(FindField(expression, "values"));
    if (op == "In" || op == "NotIn") {
      if (values.empty()) {
        errors.push_back(
            Required(here.Child("values").ToString(), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (!values.empty()) {
        errors.push_back(Forbidden(here.Child("values").ToString(),
                                   "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
    } else {
      errors.push_back(Invalid(here.Child("operator").ToString(), Quoted(op), "not a valid selector operator"));
    }
    const std::string_view key = FindString(expression, "key");
    AppendComplaints(errors, here.Child("key"), key, CheckQualifiedName(key));
    for (std::size_t i = 0; i < values.size(); ++i) {
      AppendComplaints(errors, here.Child("values").Index(i), values[i], CheckLabelValue(values[i]));
    }
  }
  return errors;
}

FieldErrors ValidateObjectMeta(const json::object& metadata, bool namespaced, const NameRule& rule, const Path& path) {
  FieldErrors errors;
  const auto check = [&](std::string_view name, bool prefix) {
    return rule ? rule(name, prefix) : NameIsDnsSubdomain(name, prefix);
  };
  if (const std::string_view prefix = FindString(metadata, "generateName"); !prefix.empty()) {
    AppendComplaints(errors, path.Child("generateName"), prefix, check(prefix, true));
  }
  const std::string_view name = FindString(metadata, "name");
  if (name.empty()) {
    errors.push_back(Required(path.Child("name").ToString(), "name or generateName is required"));
  } else {
    AppendComplaints(errors, path.Child("name"), name, check(name, false));
  }
  const std::string_view ns = FindString(metadata, "namespace");
  if (!namespaced) {
    if (!ns.empty()) errors.push_back(Forbidden(path.Child("namespace").ToString(), "not allowed on this type"));
  } else if (ns.empty()) {
    errors.push_back(Required(path.Child("namespace").ToString(), ""));
  } else {
    AppendComplaints(errors, path.Child("namespace"), ns, CheckDnsLabel(ns));
  }
  if (const std::int64_t generation = Integer(metadata, "generation"); generation < 0) {
    errors.push_back(Invalid(path.Child("generation").ToString(), fmt::format("{}", generation),
                             "must be greater than or equal to 0"));
  }
  Append(errors, ValidateCommon(metadata, path));
  Append(errors, ValidateFinalizers(FindField(metadata, "finalizers"), path.Child("finalizers")));
  Append(errors, ValidateManagedFields(FindField(metadata, "managedFields"), path.Child("managedFields")));
  return errors;
}

FieldErrors ValidateObjectMetaUpdate(const json::object& metadata, const json::object& old, const Path& path) {
  FieldErrors errors;
  if (!FindString(old, "deletionTimestamp").empty()) {
    std::set<std::string> added;
    for (std::string& name : Strings(FindField(metadata, "finalizers"))) added.insert(std::move(name));
    for (const std::string& name : Strings(FindField(old, "finalizers"))) added.erase(name);
    if (!added.empty()) {
      std::string shown;
      for (const std::string& name : added) shown += (shown.empty() ? "" : ", ") + Quoted(name);
      errors.push_back(Forbidden(path.Child("finalizers").ToString(),
                                 fmt::format("no new finalizers can be added if the object is being deleted, found new "
                                             "finalizers []string{{{}}}",
                                             shown)));
    }
  }
  if (FindString(metadata, "resourceVersion").empty()) {
    errors.push_back(Invalid(path.Child("resourceVersion").ToString(), "\"\"", "must be specified for an update"));
  }
  if (Integer(metadata, "generation") < Integer(old, "generation")) {
    errors.push_back(Invalid(path.Child("generation").ToString(), fmt::format("{}", Integer(metadata, "generation")),
                             "must not be decremented"));
  }
  for (const std::string_view name :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    RequireSame(errors, metadata, old, name, path);
  }
  Append(errors, ValidateCommon(metadata, path));
  Append(errors, ValidateManagedFields(FindField(metadata, "managedFields"), path.Child("managedFields")));
  return errors;
}

}  // namespace apimesh::meta
