#include "services/core-api/groups/core/pod/conditions.h"

#include "lib/meta/time.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {

namespace json = meta::json;

void SetTrueCondition(meta::Object& pod, std::string_view type, std::string_view reason, std::string_view message,
                      WallTime now) {
  json::object& status = meta::MakeObject(pod.Root(), "status");
  json::value& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = json::array(pod.Root().storage());
  json::object made = {
      {"type", type}, {"status", "True"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", meta::FormatTime(now)}};
  if (!reason.empty()) made["reason"] = reason;
  if (!message.empty()) made["message"] = message;
  for (const auto& found : Objects(&conditions)) {
    json::object& condition = found.get();
    if (meta::FindString(condition, "type") != type) continue;
    if (meta::FindString(condition, "status") == "True") {
      if (const json::value* since = meta::FindField(condition, "lastTransitionTime"))
        made["lastTransitionTime"] = *since;
    }
    condition = std::move(made);
    return;
  }
  conditions.get_array().push_back(std::move(made));
}

bool HasTrueCondition(const meta::Object& pod, std::string_view type) {
  for (const json::object& condition : Objects(meta::Find(pod.Root(), "status", "conditions"))) {
    if (meta::FindString(condition, "type") == type) return meta::FindString(condition, "status") == "True";
  }
  return false;
}

}  // namespace apimesh::core_api
