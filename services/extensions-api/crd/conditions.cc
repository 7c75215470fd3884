#include "services/extensions-api/crd/conditions.h"

#include "lib/meta/time.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

template <class Object>
auto* FindRaw(Object& crd, std::string_view type) {
  auto* list = meta::Find(crd.Root(), "status", "conditions");
  using Result = std::conditional_t<std::is_const_v<Object>, const json::object, json::object>;
  Result* found = nullptr;
  if (!list || !list->is_array()) return found;
  for (auto& one : list->get_array()) {
    if (one.is_object() && meta::FindString(one.get_object(), "type") == type) found = &one.get_object();
  }
  return found;
}

}  // namespace

Condition FindCondition(const meta::Object& crd, std::string_view type) {
  const json::object* found = FindRaw(crd, type);
  if (!found) return {};
  const auto text = [found](std::string_view field) { return std::string(meta::FindString(*found, field)); };
  return {text("type"), text("status"), text("reason"), text("message")};
}

std::optional<WallTime> TransitionTime(const meta::Object& crd, std::string_view type) {
  const json::object* found = FindRaw(crd, type);
  return found ? meta::ParseTime(meta::FindString(*found, "lastTransitionTime")) : std::nullopt;
}

bool IsTrue(const meta::Object& crd, std::string_view type) { return FindCondition(crd, type).status == "True"; }

void SetCondition(meta::Object& crd, const Condition& condition, WallTime now) {
  json::object* found = FindRaw(crd, condition.type);
  if (!found) {
    json::value& list = meta::MakeObject(crd.Root(), "status")["conditions"];
    if (!list.is_array()) list.emplace_array();
    found = &list.get_array().emplace_back(json::object()).emplace_object();
    (*found)["type"] = condition.type;
  }
  if (meta::FindString(*found, "status") != condition.status ||
      meta::FindString(*found, "lastTransitionTime").empty()) {
    (*found)["status"] = condition.status;
    (*found)["lastTransitionTime"] = meta::FormatTime(now);
  }
  (*found)["reason"] = condition.reason;
  (*found)["message"] = condition.message;
}

bool RemoveCondition(meta::Object& crd, std::string_view type) {
  json::value* list = meta::Find(crd.Root(), "status", "conditions");
  if (!list || !list->is_array()) return false;
  json::array& conditions = list->get_array();
  for (auto it = conditions.begin(); it != conditions.end(); ++it) {
    if (!it->is_object() || meta::FindString(it->get_object(), "type") != type) continue;
    conditions.erase(it);
    return true;
  }
  return false;
}

bool HasCleanupFinalizer(const meta::Object& crd) {
  const json::value* finalizers = meta::FindField(crd.Metadata(), "finalizers");
  if (!finalizers || !finalizers->is_array()) return false;
  for (const json::value& one : finalizers->get_array()) {
    if (one.is_string() && std::string_view(one.get_string()) == kCleanupFinalizer) return true;
  }
  return false;
}

}  // namespace apimesh::extensions_api
