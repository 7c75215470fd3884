#include "services/extensions-api/crd/rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/meta/names.h"
#include "services/extensions-api/crd/api_approval.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/conversion_rules.h"
#include "services/extensions-api/crd/names.h"
#include "services/extensions-api/crd/version_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;
using meta::Path;

std::string Joined(const meta::Complaints& complaints) { return fmt::format("{}", fmt::join(complaints, ",")); }

void Append(FieldErrors& errors, FieldErrors more) { errors.Append(std::move(more)); }

void CheckLabel(const std::string& text, const std::string& field, FieldErrors& errors) {
  const meta::Complaints complaints = meta::CheckDns1035Label(text);
  if (!complaints.empty()) errors.push_back(meta::Invalid(field, meta::Quoted(text), Joined(complaints)));
}

void CheckKind(const std::string& text, const std::string& field, FieldErrors& errors) {
  const meta::Complaints complaints = text.empty() ? meta::Complaints() : meta::CheckDns1035Label(LowerCase(text));
  if (!complaints.empty()) {
    errors.push_back(meta::Invalid(field, meta::Quoted(text),
                                   "may have mixed case, but should otherwise match: " + Joined(complaints)));
  }
}

FieldErrors CheckNames(const Names& names, const Path& path) {
  FieldErrors errors;
  if (!names.plural.empty()) CheckLabel(names.plural, path.Child("plural").ToString(), errors);
  if (!names.singular.empty()) CheckLabel(names.singular, path.Child("singular").ToString(), errors);
  CheckKind(names.kind, path.Child("kind").ToString(), errors);
  CheckKind(names.list_kind, path.Child("listKind").ToString(), errors);
  for (std::size_t i = 0; i < names.short_names.size(); ++i) {
    CheckLabel(names.short_names[i], path.Child("shortNames").Index(i).ToString(), errors);
  }
  if (!names.kind.empty() && names.kind == names.list_kind) {
    errors.push_back(meta::Invalid(path.Child("listKind").ToString(), meta::Quoted(names.list_kind),
                                   "kind and listKind may not be the same"));
  }
  for (std::size_t i = 0; i < names.categories.size(); ++i) {
    CheckLabel(names.categories[i], path.Child("categories").Index(i).ToString(), errors);
  }
  return errors;
}

FieldErrors CheckGroupAndScope(const json::object& root) {
  FieldErrors errors;
  const std::string group(meta::FindString(root, "spec", "group"));
  if (group.empty()) {
    errors.push_back(meta::Required("spec.group", ""));
  } else if (const meta::Complaints complaints = meta::CheckDnsSubdomain(group); !complaints.empty()) {
    errors.push_back(meta::Invalid("spec.group", meta::Quoted(group), Joined(complaints)));
  } else if (group.find('.') == std::string::npos) {
    errors.push_back(meta::Invalid("spec.group", meta::Quoted(group), "should be a domain with at least one dot"));
  }
  const std::string scope(meta::FindString(root, "spec", "scope"));
  if (scope.empty()) {
    errors.push_back(meta::Required("spec.scope", ""));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    errors.push_back(meta::NotSupported("spec.scope", meta::Quoted(scope), {"Cluster", "Namespaced"}));
  }
  return errors;
}

FieldErrors CheckSpec(const meta::Object& crd, const meta::Object* old) {
  FieldErrors errors = CheckGroupAndScope(crd.Root());
  Append(errors, ValidateVersions(crd, old));
  const Names names = ReadNames(crd, "spec", "names");
  const std::pair<const char*, const std::string*> needed[] = {
      {"plural", &names.plural}, {"singular", &names.singular}, {"kind", &names.kind}, {"listKind", &names.list_kind}};
  for (const auto& [field, text] : needed) {
    if (text->empty()) errors.push_back(meta::Required(fmt::format("spec.names.{}", field), ""));
  }
  Append(errors, CheckNames(names, Path("spec.names")));
  Append(errors, ValidateSharedVersionFields(crd, old));
  Append(errors, ValidateConversion(crd));
  return errors;
}

FieldErrors CheckStoredVersions(const meta::Object& crd) {
  const json::value* stored = meta::Find(crd.Root(), "status", "storedVersions");
  constexpr char kField[] = "status.storedVersions";
  if (!stored || !stored->is_array() || stored->get_array().empty())
    return {meta::Invalid(kField, "null", "must have at least one stored version")};
  FieldErrors errors;
  const json::array& list = stored->get_array();
  std::set<std::string> names, stored_names;
  for (const json::value& one : list) {
    if (one.is_string()) stored_names.emplace(one.get_string());
  }
  for (const json::object* version : Versions(crd)) {
    const std::string version_name(meta::FindString(*version, "name"));
    names.insert(version_name);
    // Only the first of several versions with the same name counts as stored.
    const bool is_stored = stored_names.erase(version_name) > 0;
    const json::value* storage = meta::FindField(*version, "storage");
    if (storage && storage->is_bool() && storage->get_bool() && !is_stored && !errors.Full()) {
      errors.push_back(meta::Invalid(kField, codec::WriteJson(list), "must have the storage version " + version_name));
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i].is_string() ? std::string(list[i].get_string()) : "";
    if (names.contains(name)) continue;
    errors.push_back(meta::Invalid(
        fmt::format("{}[{}]", kField, i), meta::Quoted(name),
        fmt::format(
            "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until "
            "a "
            "storage migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions",
            name)));
  }
  return errors;
}

bool PreservesUnknown(const meta::Object& crd) {
  const json::value* preserve = meta::Find(crd.Root(), "spec", "preserveUnknownFields");
  return preserve && preserve->is_bool() && preserve->get_bool();
}

/// Checks everything except the name and immutable fields.
FieldErrors CheckAll(const meta::Object& crd, const meta::Object* old) {
  FieldErrors errors = CheckSpec(crd, old);
  if (old) {
    Append(errors, ValidateCaBundleUpdate(crd, *old));
    const auto immutable = [&](const std::string& field, std::string_view now, std::string_view before) {
      if (now != before) errors.push_back(meta::Invalid(field, meta::Quoted(now), "field is immutable"));
    };
    const Names names = ReadNames(crd, "spec", "names"), before = ReadNames(*old, "spec", "names");
    if (IsTrue(*old, "Established")) {
      immutable("spec.scope", meta::FindString(crd.Root(), "spec", "scope"),
                meta::FindString(old->Root(), "spec", "scope"));
      immutable("spec.names.kind", names.kind, before.kind);
    }
    immutable("spec.group", meta::FindString(crd.Root(), "spec", "group"),
              meta::FindString(old->Root(), "spec", "group"));
    immutable("spec.names.plural", names.plural, before.plural);
  }
  Append(errors, ValidateCrdStatus(crd));
  Append(errors, CheckStoredVersions(crd));
  Append(errors, ValidateApproval(crd, old));
  if (PreservesUnknown(crd) && !(old && PreservesUnknown(*old))) {
    errors.push_back(meta::Invalid(
        "spec.preserveUnknownFields", "true",
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"));
  }
  return errors;
}

}  // namespace

FieldErrors ValidateCrd(const meta::Object& crd) {
  FieldErrors errors;
  const std::string wanted = fmt::format("{}.{}", meta::FindString(crd.Root(), "spec", "names", "plural"),
                                         meta::FindString(crd.Root(), "spec", "group"));
  if (crd.Name() != wanted && !crd.Name().empty()) {
    errors.push_back(
        meta::Invalid("metadata.name", meta::Quoted(crd.Name()), "must be spec.names.plural+\".\"+spec.group"));
  }
  Append(errors, CheckAll(crd, nullptr));
  return errors;
}

FieldErrors ValidateCrdUpdate(const meta::Object& crd, const meta::Object& old) { return CheckAll(crd, &old); }

FieldErrors ValidateCrdStatus(const meta::Object& crd) {
  return CheckNames(ReadNames(crd, "status", "acceptedNames"), Path("status.acceptedNames"));
}

}  // namespace apimesh::extensions_api
