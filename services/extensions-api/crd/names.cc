#include "services/extensions-api/crd/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/schema/crd.h"
#include "services/extensions-api/crd/api_approval.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/conversion_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

std::vector<std::string> ReadTexts(const json::object& object, std::string_view field) {
  std::vector<std::string> texts;
  const json::value* list = meta::FindField(object, field);
  if (!list || !list->is_array()) return texts;
  for (const json::value& one : list->get_array()) {
    if (one.is_string()) texts.emplace_back(one.get_string());
  }
  return texts;
}

void WriteNames(json::object& out, const Names& names) {
  const auto texts = [&out](const char* field, const std::vector<std::string>& values) {
    if (!values.empty()) out[field] = json::array(values.begin(), values.end());
  };
  out["plural"] = names.plural;
  if (!names.singular.empty()) out["singular"] = names.singular;
  texts("shortNames", names.short_names);
  out["kind"] = names.kind;
  if (!names.list_kind.empty()) out["listKind"] = names.list_kind;
  texts("categories", names.categories);
}

std::string InUse(std::string_view name) { return fmt::format("{} is already in use", meta::Quoted(name)); }

/// Copies the free names from `asked` to `accepted`. The condition reports the last name that is taken.
Condition Negotiate(const Names& asked, const TakenNames& taken, Names& accepted) {
  Condition condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
  const auto refuse = [&condition](const char* reason, std::string message) {
    condition = {"NamesAccepted", "False", reason, std::move(message)};
  };
  const auto one = [&](const std::string& wanted, std::string& have, const std::set<std::string>& used,
                       const char* reason) {
    if (wanted == have || !used.contains(wanted)) {
      have = wanted;
    } else {
      refuse(reason, InUse(wanted));
    }
  };
  one(asked.plural, accepted.plural, taken.resources, "PluralConflict");
  one(asked.singular, accepted.singular, taken.resources, "SingularConflict");
  std::vector<std::string> conflicts;
  for (const std::string& name : asked.short_names) {
    const bool ours =
        std::find(accepted.short_names.begin(), accepted.short_names.end(), name) != accepted.short_names.end();
    if (!ours && taken.resources.contains(name)) conflicts.push_back(InUse(name));
  }
  if (conflicts.empty()) {
    accepted.short_names = asked.short_names;
  } else {
    const std::string all = fmt::format("{}", fmt::join(conflicts, ", "));
    refuse("ShortNamesConflict", conflicts.size() == 1 ? all : "[" + all + "]");
  }
  one(asked.kind, accepted.kind, taken.kinds, "KindConflict");
  one(asked.list_kind, accepted.list_kind, taken.kinds, "ListKindConflict");
  accepted.categories = asked.categories;
  return condition;
}

/// Returns a condition with an empty `type` if all schemas are structural.
Condition NonStructural(const meta::Object& crd) {
  std::vector<std::string> violations;
  const json::value* preserve = meta::Find(crd.Root(), "spec", "preserveUnknownFields");
  if (preserve && preserve->is_bool() && preserve->get_bool()) {
    violations.emplace_back("spec.preserveUnknownFields: Invalid value: true: must be false");
  }
  const json::value* versions = meta::Find(crd.Root(), "spec", "versions");
  for (std::size_t i = 0; versions && versions->is_array() && i < versions->get_array().size(); ++i) {
    const json::value& version = versions->get_array()[i];
    const json::value* openapi =
        version.is_object() ? meta::Find(version.get_object(), "schema", "openAPIV3Schema") : nullptr;
    if (!openapi || !openapi->is_object()) continue;
    const meta::Path path(fmt::format("spec.versions[{}].schema.openAPIV3Schema", i));
    for (const meta::FieldError& error : schema::CheckStructural(openapi->get_object(), path)) {
      violations.push_back(error.field + ": " + error.Message());
    }
  }
  if (violations.empty()) return {};
  const std::string all = fmt::format("{}", fmt::join(violations, ", "));
  return {"NonStructuralSchema", "True", "Violations", violations.size() == 1 ? all : "[" + all + "]"};
}

/// Returns the condition Established of a definition whose names are accepted.
Condition EstablishedCondition(const meta::Object& crd, WallTime now, Duration delay) {
  if (!HasUsableCaBundle(crd))
    return {"Established", "False", kInvalidCaBundle, "The conversion webhook CABundle is invalid"};
  if (delay > Duration::zero()) {
    const std::optional<WallTime> since = TransitionTime(crd, "NamesAccepted");
    if (!since || now < *since + delay)
      return {"Established", "False", "Installing", "the initial names have been accepted"};
  }
  return {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"};
}

bool Set(meta::Object& crd, const Condition& condition, WallTime now) {
  if (FindCondition(crd, condition.type) == condition) return false;
  SetCondition(crd, condition, now);
  return true;
}

}  // namespace

Names ReadNames(const meta::Object& crd, std::string_view parent, std::string_view field) {
  const json::value* found = meta::Find(crd.Root(), parent, field);
  if (!found || !found->is_object()) return {};
  const json::object& names = found->get_object();
  const auto text = [&names](std::string_view name) { return std::string(meta::FindString(names, name)); };
  return {text("plural"),
          text("singular"),
          text("kind"),
          text("listKind"),
          ReadTexts(names, "shortNames"),
          ReadTexts(names, "categories")};
}

void TakenNames::Add(const Names& accepted) {
  resources.insert({accepted.plural, accepted.singular});
  resources.insert(accepted.short_names.begin(), accepted.short_names.end());
  kinds.insert({accepted.kind, accepted.list_kind});
}

bool IsInstalling(const meta::Object& crd) {
  const Condition established = FindCondition(crd, "Established");
  return established.status == "False" && established.reason == "Installing";
}

bool IsServed(const meta::Object& crd) { return IsTrue(crd, "Established") || IsInstalling(crd); }

bool UpdateStatus(meta::Object& crd, const TakenNames& taken, WallTime now, Duration delay) {
  bool changed = false;
  const Names asked = ReadNames(crd, "spec", "names"), before = ReadNames(crd, "status", "acceptedNames");
  if (asked != before) {
    Names accepted = before;
    const Condition condition = Negotiate(asked, taken, accepted);
    changed |= Set(crd, condition, now);
    if (accepted != before) {
      changed = true;
      json::value& out = meta::MakeObject(crd.Root(), "status")["acceptedNames"];
      WriteNames(out.emplace_object(), accepted);
    }
  }
  if (!IsTrue(crd, "Established")) {
    if (IsTrue(crd, "NamesAccepted")) {
      changed |= Set(crd, EstablishedCondition(crd, now, delay), now);
    } else if (FindCondition(crd, "Established").type.empty()) {
      changed |= Set(crd, {"Established", "False", "NotAccepted", "not all names are accepted"}, now);
    }
  }
  const Condition structural = NonStructural(crd);
  changed |= structural.type.empty() ? RemoveCondition(crd, "NonStructuralSchema") : Set(crd, structural, now);
  if (const Condition approval = ApprovalCondition(crd); !approval.type.empty()) changed |= Set(crd, approval, now);
  return changed;
}

}  // namespace apimesh::extensions_api
