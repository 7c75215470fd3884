#include "services/core-api/bootstrap/rbac_reconcile.h"

#include <algorithm>

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::array& ArrayOf(const json::object& object, std::string_view field) {
  static const json::array kNone;
  const json::value* found = meta::FindField(object, field);
  return found && found->is_array() ? found->get_array() : kNone;
}

bool Contains(const json::array& list, const json::value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
bool Allows(const json::array& list, const json::value& value) { return Contains(list, "*") || Contains(list, value); }

/// "pods/log" is also matched by "*/log".
bool AllowsResource(const json::array& list, const json::value& resource) {
  if (Allows(list, resource)) return true;
  const std::string_view name = resource.is_string() ? std::string_view(resource.get_string()) : std::string_view();
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && Contains(list, json::value("*" + std::string(name.substr(slash))));
}

/// A path is matched by an equal path, or by a prefix that ends with "*".
bool AllowsPath(const json::array& list, const json::value& path) {
  for (const json::value& owned : list) {
    if (owned == path) return true;
    if (!owned.is_string() || !path.is_string()) continue;
    const std::string_view prefix = owned.get_string();
    if (prefix.ends_with('*') && std::string_view(path.get_string()).starts_with(prefix.substr(0, prefix.size() - 1)))
      return true;
  }
  return false;
}

/// `single` has one value in each list.
bool Covers(const json::object& rule, const json::object& single) {
  if (!Allows(ArrayOf(rule, "verbs"), ArrayOf(single, "verbs")[0])) return false;
  const json::array& paths = ArrayOf(single, "nonResourceURLs");
  if (!paths.empty()) return AllowsPath(ArrayOf(rule, "nonResourceURLs"), paths[0]);
  if (!Allows(ArrayOf(rule, "apiGroups"), ArrayOf(single, "apiGroups")[0])) return false;
  if (!AllowsResource(ArrayOf(rule, "resources"), ArrayOf(single, "resources")[0])) return false;
  const json::array& owned_names = ArrayOf(rule, "resourceNames");
  const json::array& names = ArrayOf(single, "resourceNames");
  if (owned_names.empty()) return true;
  return !names.empty() && Contains(owned_names, names[0]);
}

void ForEachSingle(const json::object& rule, const std::function<void(json::object)>& visit) {
  for (const json::value& verb : ArrayOf(rule, "verbs")) {
    for (const json::value& path : ArrayOf(rule, "nonResourceURLs")) {
      visit({{"verbs", json::array{verb}}, {"nonResourceURLs", json::array{path}}});
    }
    for (const json::value& group : ArrayOf(rule, "apiGroups")) {
      for (const json::value& resource : ArrayOf(rule, "resources")) {
        const json::object single{
            {"verbs", json::array{verb}}, {"apiGroups", json::array{group}}, {"resources", json::array{resource}}};
        const json::array& names = ArrayOf(rule, "resourceNames");
        if (names.empty()) visit(single);
        for (const json::value& name : names) {
          json::object named = single;
          named["resourceNames"] = json::array{name};
          visit(std::move(named));
        }
      }
    }
  }
}

bool Protected(const meta::Object& existing) {
  const json::string* value = existing.Annotation("rbac.authorization.kubernetes.io/autoupdate");
  return value && *value == "false";
}

/// Adds labels or annotations that are missing; existing ones are not changed.
bool AddMissing(meta::Object& object, const meta::Object& wanted, std::string_view field) {
  bool changed = false;
  const json::value* all = meta::FindField(wanted.Metadata(), field);
  if (!all || !all->is_object()) return false;
  for (const auto& [key, value] : all->get_object()) {
    json::object& map = meta::MakeObject(object.Metadata(), field);
    if (map.contains(key)) continue;
    map[key] = value;
    changed = true;
  }
  return changed;
}

json::array& MakeArray(json::object& object, std::string_view field) {
  json::value& value = object[field];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

bool AppendMissing(json::object& object, std::string_view field, const json::array& wanted) {
  bool changed = false;
  for (const json::value& item : wanted) {
    if (Contains(ArrayOf(object, field), item)) continue;
    MakeArray(object, field).push_back(item);
    changed = true;
  }
  return changed;
}

}  // namespace

json::array UncoveredRules(const json::array& owned, const json::array& wanted) {
  json::array uncovered;
  for (const json::value& rule : wanted) {
    if (!rule.is_object()) continue;
    const auto visit = [&](json::object single) {
      const bool covered = std::any_of(owned.begin(), owned.end(), [&](const json::value& value) {
        return value.is_object() && Covers(value.get_object(), single);
      });
      if (!covered && !Contains(uncovered, single)) uncovered.push_back(std::move(single));
    };
    ForEachSingle(rule.get_object(), visit);
  }
  return uncovered;
}

std::optional<meta::Object> ReconcileRole(const meta::Object& existing, const meta::Object& wanted) {
  if (Protected(existing)) return std::nullopt;
  meta::Object object = existing;
  bool changed = AddMissing(object, wanted, "labels");
  changed |= AddMissing(object, wanted, "annotations");
  const json::array missing = UncoveredRules(ArrayOf(existing.Root(), "rules"), ArrayOf(wanted.Root(), "rules"));
  for (const json::value& rule : missing) MakeArray(object.Root(), "rules").push_back(rule);
  changed |= !missing.empty();
  if (const json::value* selectors = meta::Find(wanted.Root(), "aggregationRule", "clusterRoleSelectors");
      selectors && selectors->is_array()) {
    json::object& rule = meta::MakeObject(object.Root(), "aggregationRule");
    changed |= AppendMissing(rule, "clusterRoleSelectors", selectors->get_array());
  }
  return changed ? std::optional(std::move(object)) : std::nullopt;
}

std::optional<BindingChange> ReconcileBinding(const meta::Object& existing, const meta::Object& wanted) {
  if (Protected(existing)) return std::nullopt;
  const json::value* owned = meta::FindField(existing.Root(), "roleRef");
  const json::value* role = meta::FindField(wanted.Root(), "roleRef");
  if (owned && role && *owned != *role) return BindingChange{wanted, true};
  BindingChange change{existing};
  bool changed = AddMissing(change.object, wanted, "labels");
  changed |= AddMissing(change.object, wanted, "annotations");
  changed |= AppendMissing(change.object.Root(), "subjects", ArrayOf(wanted.Root(), "subjects"));
  return changed ? std::optional(std::move(change)) : std::nullopt;
}

}  // namespace apimesh::core_api
