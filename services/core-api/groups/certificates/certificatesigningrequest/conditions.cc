#include "services/core-api/groups/certificates/certificatesigningrequest/conditions.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

std::string_view Text(const json::value& condition, std::string_view field) {
  return condition.is_object() ? meta::FindString(condition.get_object(), field) : std::string_view();
}

std::vector<std::size_t> Places(const json::array* conditions, std::string_view type) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; conditions && i < conditions->size(); ++i) {
    if (Text((*conditions)[i], "type") == type) places.push_back(i);
  }
  return places;
}

std::string TransitionTime(const json::value& condition, const json::array* old, std::string_view now) {
  for (std::size_t i = 0; old && i < old->size(); ++i) {
    const json::value& before = (*old)[i];
    const bool same =
        Text(before, "type") == Text(condition, "type") && Text(before, "status") == Text(condition, "status");
    if (same && !Text(before, "lastTransitionTime").empty()) return std::string(Text(before, "lastTransitionTime"));
  }
  return std::string(now);
}

}  // namespace

const json::array* ConditionsOf(const meta::Object& request) {
  const json::value* value = meta::Find(request.Root(), "status", "conditions");
  return value ? value->if_array() : nullptr;
}

json::array* ConditionsOf(meta::Object& request) {
  json::value* value = meta::Find(request.Root(), "status", "conditions");
  return value ? value->if_array() : nullptr;
}

std::vector<const json::object*> ConditionsOfType(const meta::Object& request, std::string_view type) {
  std::vector<const json::object*> found;
  const json::array* conditions = ConditionsOf(request);
  for (const std::size_t place : Places(conditions, type)) found.push_back(&(*conditions)[place].get_object());
  return found;
}

bool HasCondition(const meta::Object& request, std::string_view type) {
  return !ConditionsOfType(request, type).empty();
}

void KeepConditions(meta::Object& request, const meta::Object& old, std::string_view type) {
  json::array* conditions = ConditionsOf(request);
  const json::array* before = ConditionsOf(old);
  const std::vector<std::size_t> places = Places(conditions, type), old_places = Places(before, type);
  if (places.size() != old_places.size()) return;
  for (std::size_t i = 0; i < places.size(); ++i) (*conditions)[places[i]] = (*before)[old_places[i]];
}

void FillConditionTimes(meta::Object& request, const meta::Object& old, std::string_view now) {
  json::array* conditions = ConditionsOf(request);
  for (std::size_t i = 0; conditions && i < conditions->size(); ++i) {
    json::value& condition = (*conditions)[i];
    if (!condition.is_object()) continue;
    if (Text(condition, "lastUpdateTime").empty()) condition.get_object()["lastUpdateTime"] = std::string(now);
    if (Text(condition, "lastTransitionTime").empty()) {
      condition.get_object()["lastTransitionTime"] = TransitionTime(condition, ConditionsOf(old), now);
    }
  }
}

}  // namespace apimesh::core_api
