#include "lib/admission/plugins/resource_quota/evaluators/pods.h"

#include <algorithm>

#include "lib/admission/fields.h"
#include "lib/meta/time.h"

namespace apimesh::admission::resource_quota {
namespace {

using meta::FindString;

constexpr std::string_view kHugePages = "hugepages-", kRequestedHugePages = "requests.hugepages-";
constexpr std::string_view kCounted[] = {"count/pods",
                                         "pods",
                                         "cpu",
                                         "memory",
                                         "ephemeral-storage",
                                         "requests.cpu",
                                         "requests.memory",
                                         "requests.ephemeral-storage",
                                         "limits.cpu",
                                         "limits.memory",
                                         "limits.ephemeral-storage"};
/// Every container must specify these if a quota limits them, unless the pod specifies resources itself.
constexpr std::string_view kRequired[] = {"cpu",        "memory",       "requests.cpu", "requests.memory",
                                          "limits.cpu", "limits.memory"};

/// Converts requests and limits to the names that quotas use.
Amounts UsageOf(const Amounts& requests, const Amounts& limits) {
  Amounts usage = {{"pods", meta::Quantity(1)}};
  for (const auto& [name, amount] : requests) {
    const bool compute = IsCpuOrMemory(name) || name == "ephemeral-storage" || name.starts_with(kHugePages);
    if (compute) usage[name] = amount;
    if (compute || IsExtendedResource(name) || name.starts_with(kDeviceClassPrefix))
      usage[std::string(kRequestsPrefix) + name] = amount;
  }
  for (const auto& [name, amount] : limits) {
    if (IsCpuOrMemory(name) || name == "ephemeral-storage") usage["limits." + name] = amount;
  }
  return usage;
}

/// Returns the amounts of a container while the pod is resized: the largest one of those that are requested, that the
/// node has allocated, and that are in effect. Those that the node can never provide are not counted.
class ResizedContainers {
 public:
  explicit ResizedContainers(const meta::Object& pod) {
    const json::object& status = ObjectAt(pod.Root(), "status");
    for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
      ForEach(status, list, [this](const json::object& one) { statuses_[FindString(one, "name")] = &one; });
    }
    const json::array& conditions = ListAt(status, "conditions");
    const auto pending = std::find_if(conditions.begin(), conditions.end(), [](const json::value& one) {
      return one.is_object() && FindString(one.get_object(), "type") == "PodResizePending";
    });
    infeasible_ = pending != conditions.end() && FindString(pending->get_object(), "reason") == "Infeasible";
    ForEach(SpecOf(pod), "initContainers", [this](const json::object& container) {
      if (!IsSidecar(container)) statuses_.erase(FindString(container, "name"));
    });
  }

  Amounts operator()(const json::object& container, std::string_view kind) const {
    const auto found = statuses_.find(FindString(container, "name"));
    if (found == statuses_.end() || !Has(*found->second, "resources")) return SpecAmounts(container, kind);
    Amounts amounts = infeasible_ ? Amounts() : SpecAmounts(container, kind);
    TakeLarger(amounts, SpecAmounts(*found->second, kind));
    if (kind == "requests") TakeLarger(amounts, ReadAmounts(ObjectAt(*found->second, "allocatedResources")));
    return amounts;
  }

 private:
  std::map<std::string_view, const json::object*> statuses_;
  bool infeasible_ = false;
};

/// Returns what a pod uses that has not ended.
Amounts ComputeUsage(const meta::Object& pod) {
  const ResizedContainers of_container(pod);
  const json::object& spec = SpecOf(pod);
  Amounts requests = PodTotal(spec, "requests", &IsPodLevelResource, of_container);
  Amounts limits = PodTotal(spec, "limits", &IsPodLevelResource, of_container);
  const Amounts overhead = ReadAmounts(ObjectAt(spec, "overhead"));
  AddAmounts(requests, overhead);
  for (const auto& [name, amount] : overhead) {
    const auto limit = limits.find(name);
    if (limit != limits.end() && !limit->second.IsZero()) limit->second.Add(amount);
  }
  return UsageOf(requests, limits);
}

bool HasPodLevelResources(const json::object& spec) {
  for (const char* kind : {"requests", "limits"}) {
    for (const auto& member : ObjectAt(ObjectAt(spec, "resources"), kind)) {
      if (IsPodLevelResource(member.key())) return true;
    }
  }
  return false;
}

void FindUnspecified(const json::object& spec, Measurement& measured) {
  if (HasPodLevelResources(spec)) return;
  for (const char* list : {"containers", "initContainers"}) {
    ForEach(spec, list, [&measured](const json::object& container) {
      const Amounts usage = UsageOf(SpecAmounts(container, "requests"), SpecAmounts(container, "limits"));
      for (const std::string_view name : kRequired) {
        if (!usage.contains(name)) measured.unspecified[std::string(name)].emplace(FindString(container, "name"));
      }
    });
  }
}

bool IsCrossNamespace(const json::object& term) {
  return !ListAt(term, "namespaces").empty() || Has(term, "namespaceSelector");
}

bool UsesCrossNamespaceAffinity(const json::object& spec) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const json::object& affinity = ObjectAt(ObjectAt(spec, "affinity"), kind);
    if (AnyOf(ListAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), &IsCrossNamespace)) return true;
    const bool preferred =
        AnyOf(ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
              [](const json::object& weighted) { return IsCrossNamespace(ObjectAt(weighted, "podAffinityTerm")); });
    if (preferred) return true;
  }
  return false;
}

/// Returns whether the pod has ended, or is still being deleted long after its grace period, for example because its
/// node is lost.
bool IsOver(const meta::Object& pod, WallTime now) {
  const std::string_view phase = FindString(pod.Root(), "status", "phase");
  if (phase == "Failed" || phase == "Succeeded") return true;
  const std::optional<WallTime> deleted = meta::ParseTime(pod.DeletionTimestamp());
  const std::optional<std::int64_t> grace = NumberAt(pod.Metadata(), "deletionGracePeriodSeconds");
  return deleted && grace && now > *deleted + std::chrono::seconds(std::min<std::int64_t>(*grace, 1LL << 32));
}

class PodEvaluator final : public Evaluator {
 public:
  explicit PodEvaluator(WallTime now) : now_(now) {}

  bool Uses(std::string_view name) const override {
    return std::find(std::begin(kCounted), std::end(kCounted), name) != std::end(kCounted) ||
           name.starts_with(kHugePages) || name.starts_with(kRequestedHugePages) || IsExtendedResourceOfQuota(name);
  }

  Measurement Measure(const meta::Object& pod) const override {
    Measurement measured;
    if (!IsOver(pod, now_)) measured.usage = ComputeUsage(pod);
    measured.usage["count/pods"] = meta::Quantity(1);
    const json::object& spec = SpecOf(pod);
    FindUnspecified(spec, measured);
    const bool terminating = IsTerminating(pod), best_effort = IsBestEffort(pod);
    measured.scopes.Set("Terminating", terminating);
    measured.scopes.Set("NotTerminating", !terminating);
    measured.scopes.Set("BestEffort", best_effort);
    measured.scopes.Set("NotBestEffort", !best_effort);
    measured.scopes.Set("CrossNamespacePodAffinity", UsesCrossNamespaceAffinity(spec));
    const std::string priority_class(FindString(spec, "priorityClassName"));
    measured.scopes.SetValues("PriorityClass", priority_class.empty() ? std::vector<std::string>()
                                                                      : std::vector<std::string>{priority_class});
    return measured;
  }

 private:
  const WallTime now_;
};

}  // namespace

bool IsTerminating(const meta::Object& pod) { return NumberAt(SpecOf(pod), "activeDeadlineSeconds").value_or(-1) >= 0; }

bool IsExtendedResourceOfQuota(std::string_view name) {
  if (!name.starts_with(kRequestsPrefix)) return false;
  if (name.substr(kRequestsPrefix.size()).starts_with(kDeviceClassPrefix)) return true;
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}

EvaluatorPtr NewPodEvaluator(WallTime now) { return std::make_shared<const PodEvaluator>(now); }

}  // namespace apimesh::admission::resource_quota
