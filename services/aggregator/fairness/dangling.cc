#include "services/aggregator/fairness/dangling.h"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/meta/time.h"

namespace apimesh::aggregator {
namespace {

using meta::json::object;

constexpr std::string_view kType = "Dangling";
constexpr std::size_t kMaxWritesPerMinute = 6;

struct Condition {
  std::string_view status, reason;
  std::string message;
};

Condition WantedCondition(const FairnessObjects& objects, const meta::Object& schema) {
  const std::string_view level = meta::FindString(schema.Root(), "spec", "priorityLevelConfiguration", "name");
  const bool exists = objects.levels.contains(level);
  return {exists ? "False" : "True", exists ? "Found" : "NotFound",
          fmt::format("This FlowSchema references the PriorityLevelConfiguration object named \"{}\" {}", level,
                      exists ? "and it exists" : "but there is no such object")};
}

bool Has(const meta::Object& schema, const Condition& wanted) {
  const meta::json::value* conditions = meta::Find(schema.Root(), "status", "conditions");
  if (!conditions || !conditions->is_array()) return false;
  for (const meta::json::value& condition : conditions->get_array()) {
    if (!condition.is_object() || meta::FindString(condition.get_object(), "type") != kType) continue;
    return meta::FindString(condition.get_object(), "status") == wanted.status &&
           meta::FindString(condition.get_object(), "reason") == wanted.reason &&
           meta::FindString(condition.get_object(), "message") == wanted.message;
  }
  return false;
}

}  // namespace

bool DanglingConditions::TooOften(const std::string& name) {
  std::vector<SteadyTime>& times = writes_[name];
  const SteadyTime now = clock_.Steady();
  std::erase_if(times, [now](SteadyTime time) { return now - time > std::chrono::minutes(1); });
  if (times.size() >= kMaxWritesPerMinute) return true;
  times.push_back(now);
  return false;
}

Task<bool> DanglingConditions::Write(const FairnessObjects& objects) {
  bool remain = false;
  std::erase_if(writes_, [&objects](const auto& entry) { return !objects.schemas.contains(entry.first); });
  for (const auto& [name, schema] : objects.schemas) {
    const Condition wanted = WantedCondition(objects, *schema);
    if (Has(*schema, wanted)) continue;
    if (TooOften(name)) {
      remain = true;
      continue;
    }
    const object condition{{"type", kType},
                           {"status", wanted.status},
                           {"lastTransitionTime", meta::FormatTime(clock_.Now())},
                           {"reason", wanted.reason},
                           {"message", wanted.message}};
    const object patch{{"apiVersion", "flowcontrol.apiserver.k8s.io/v1"},
                       {"kind", "FlowSchema"},
                       {"metadata", object{{"name", name}}},
                       {"status", object{{"conditions", meta::json::array{condition}}}}};
    mesh::ApiRequest request;
    request.method = "PATCH";
    request.path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/" + name + "/status";
    request.query = "fieldManager=api-priority-and-fairness-config-consumer-v1&force=true";
    request.content_type = "application/apply-patch+yaml";
    request.body = meta::json::serialize(patch);
    request.deadline = clock_.Steady() + std::chrono::seconds(10);
    const meta::Result<meta::Object> written = co_await api_.SendForObject(std::move(request));
    if (written || written.error().Is(meta::Reason::kNotFound)) continue;  // deleted: the next change follows
    log::Warning("cannot write the condition Dangling of the FlowSchema {}: {}", name, written.error().Message());
    remain = true;
  }
  co_return remain;
}

}  // namespace apimesh::aggregator
