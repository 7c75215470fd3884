#include <fmt/format.h>

#include "lib/meta/time.h"
#include "services/core-api/groups/core/pod/eviction/eviction.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kRefused = "Cannot evict pod as it would violate the pod's disruption budget.";
constexpr std::size_t kMostDisruptedPods = 2000;

std::int64_t Number(const json::object& status, std::string_view field) {
  const json::value* found = meta::FindField(status, field);
  return found && found->is_int64() ? found->get_int64() : 0;
}

meta::ApiError Refused(int retry_after_seconds, std::string why) {
  meta::ApiError::Data data = meta::TooManyRequests(kRefused, retry_after_seconds).Get();
  data.causes.push_back({"DisruptionBudget", std::move(why), ""});
  return meta::ApiError(std::move(data));
}

std::string WhyNone(const meta::Object& budget, const json::object& status) {
  const json::object* condition = nullptr;
  for (const json::object& one : Objects(meta::FindField(status, "conditions"))) {
    if (meta::FindString(one, "type") == "DisruptionAllowed") condition = &one;
  }
  const bool refuses = condition && meta::FindString(*condition, "status") == "False" &&
                       !meta::FindString(*condition, "message").empty();
  if (refuses && meta::FindString(*condition, "reason") == "SyncFailed") {
    return fmt::format("The disruption budget {} does not allow evicting pods currently because it failed sync: {}",
                       budget.Name(), meta::FindString(*condition, "message"));
  }
  const std::int64_t has = Number(status, "currentHealthy"), needs = Number(status, "desiredHealthy");
  if (has <= needs)
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", budget.Name(), needs,
                       has);
  if (refuses) {
    return fmt::format("The disruption budget {} does not allow evicting pods currently ({}): {}", budget.Name(),
                       meta::FindString(*condition, "reason"), meta::FindString(*condition, "message"));
  }
  return fmt::format("The disruption budget {} does not allow evicting pods currently", budget.Name());
}

/// Sets the condition for a budget that allows no more disruptions, as the disruption controller does.
void SetInsufficient(json::object& status, std::int64_t generation, WallTime now) {
  json::object made = {{"type", "DisruptionAllowed"},      {"status", "False"},
                       {"observedGeneration", generation}, {"lastTransitionTime", meta::FormatTime(now)},
                       {"reason", "InsufficientPods"},     {"message", ""}};
  json::value& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = json::array(status.storage());
  for (const auto& found : Objects(&conditions)) {
    if (meta::FindString(found.get(), "type") != "DisruptionAllowed") continue;
    if (meta::FindString(found.get(), "status") == "False")
      made["lastTransitionTime"] = found.get()["lastTransitionTime"];
    found.get() = std::move(made);
    return;
  }
  conditions.get_array().push_back(std::move(made));
}

}  // namespace

meta::Result<meta::Object> TakeDisruption(meta::Object budget, std::string_view pod, WallTime now) {
  const meta::GroupResource resource{"policy", "poddisruptionbudget"};
  json::object& status = meta::MakeObject(budget.Root(), "status");
  if (Number(status, "observedGeneration") < budget.Generation()) {
    return Refused(10, fmt::format("The disruption budget {} is still being processed by the server.", budget.Name()));
  }
  const std::int64_t allowed = Number(status, "disruptionsAllowed");
  if (allowed < 0) return meta::Forbidden(resource, budget.Name(), "pdb disruptions allowed is negative");
  const json::value* disrupted = meta::FindField(status, "disruptedPods");
  if (disrupted && disrupted->is_object() && disrupted->get_object().size() > kMostDisruptedPods) {
    return meta::Forbidden(resource, budget.Name(),
                           "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (allowed == 0) return Refused(0, WhyNone(budget, status));
  status["disruptionsAllowed"] = allowed - 1;
  if (allowed == 1) SetInsufficient(status, Number(status, "observedGeneration"), now);
  meta::MakeObject(status, "disruptedPods")[pod] = meta::FormatTime(now);
  return budget;
}

}  // namespace apimesh::core_api
