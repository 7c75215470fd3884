#include "services/aggregator/fairness/configuration.h"

#include <boost/json/parse.hpp>

namespace apimesh::aggregator {
namespace {

std::optional<int> FindInt(const meta::json::object& object, std::string_view name) {
  const meta::json::value* value = meta::FindField(object, name);
  if (!value || !value->is_int64()) return std::nullopt;
  return static_cast<int>(value->get_int64());
}

admission::ObjectPtr Parse(std::string_view text) {
  return std::make_shared<const meta::Object>(meta::json::parse({text.data(), text.size()}).as_object());
}

// Everybody matches "catch-all"; administrators match "exempt".
constexpr std::string_view kExemptSchema = R"({"metadata":{"name":"exempt"},"spec":{"matchingPrecedence":1,
  "priorityLevelConfiguration":{"name":"exempt"},"rules":[{
    "subjects":[{"kind":"Group","group":{"name":"system:masters"}}],
    "resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],
    "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}})";
constexpr std::string_view kCatchAllSchema = R"({"metadata":{"name":"catch-all"},"spec":{"matchingPrecedence":10000,
  "priorityLevelConfiguration":{"name":"catch-all"},"distinguisherMethod":{"type":"ByUser"},"rules":[{
    "subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},
                {"kind":"Group","group":{"name":"system:authenticated"}}],
    "resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],
    "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}})";
constexpr std::string_view kExemptLevel =
    R"({"metadata":{"name":"exempt"},"spec":{"type":"Exempt","exempt":{"nominalConcurrencyShares":0,"lendablePercent":0}}})";
constexpr std::string_view kCatchAllLevel = R"({"metadata":{"name":"catch-all"},"spec":{"type":"Limited","limited":{
  "nominalConcurrencyShares":5,"lendablePercent":0,"limitResponse":{"type":"Reject"}}}})";

}  // namespace

std::optional<LevelSettings> LevelSettings::From(const meta::Object& object) {
  LevelSettings settings;
  settings.uid = object.Uid();
  const bool exempt = meta::FindString(object.Root(), "spec", "type") == "Exempt";
  if (exempt != (object.Name() == kExempt)) return std::nullopt;
  const meta::json::value* limits = meta::Find(object.Root(), "spec", exempt ? "exempt" : "limited");
  if (!limits || !limits->is_object()) return std::nullopt;
  const meta::json::object& spec = limits->get_object();
  settings.shares = FindInt(spec, "nominalConcurrencyShares").value_or(exempt ? 0 : 30);
  settings.lendable_percent = FindInt(spec, "lendablePercent").value_or(0);
  settings.borrowing_percent = FindInt(spec, "borrowingLimitPercent");
  if (exempt) {
    settings.queues.response = QueueSettings::Response::kExempt;
    return settings;
  }
  if (meta::FindString(spec, "limitResponse", "type") != "Queue") return settings;
  const meta::json::value* queuing = meta::Find(spec, "limitResponse", "queuing");
  if (!queuing || !queuing->is_object()) return std::nullopt;
  settings.queues = {.response = QueueSettings::Response::kQueue,
                     .queues = FindInt(queuing->get_object(), "queues").value_or(64),
                     .hand_size = FindInt(queuing->get_object(), "handSize").value_or(8),
                     .length_limit = FindInt(queuing->get_object(), "queueLengthLimit").value_or(50)};
  constexpr int kMaxQueues = 10'000'000;  // the limit of the API
  const QueueSettings& queues = settings.queues;
  if (queues.queues < 1 || queues.queues > kMaxQueues || queues.hand_size < 1 || queues.hand_size > queues.queues)
    return std::nullopt;
  return settings;
}

void FairnessObjects::AddMandatory() {
  static const admission::ObjectPtr exempt_schema = Parse(kExemptSchema), catch_all_schema = Parse(kCatchAllSchema),
                                    exempt_level = Parse(kExemptLevel), catch_all_level = Parse(kCatchAllLevel);
  schemas.try_emplace(std::string(kExempt), exempt_schema);
  levels.try_emplace(std::string(kExempt), exempt_level);
  // Requests that nothing else matches must always find a level, also if somebody has edited etcd.
  admission::ObjectPtr& level = levels[std::string(kCatchAll)];
  if (!level || !LevelSettings::From(*level)) level = catch_all_level;
  admission::ObjectPtr& schema = schemas[std::string(kCatchAll)];
  if (!schema || meta::FindString(schema->Root(), "spec", "priorityLevelConfiguration", "name") != kCatchAll)
    schema = catch_all_schema;
}

}  // namespace apimesh::aggregator
