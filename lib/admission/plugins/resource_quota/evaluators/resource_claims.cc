#include "lib/admission/plugins/resource_quota/evaluators/resource_claims.h"

#include <algorithm>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/resource_quota/evaluators/pods.h"

namespace apimesh::admission::resource_quota {
namespace {

using meta::FindString;

constexpr const char* kCount = "count/resourceclaims.resource.k8s.io";
constexpr std::string_view kOfClass = ".deviceclass.resource.k8s.io/devices";
constexpr std::int64_t kMaxDevicesOfRequest = 32;  // what a request for all devices can get at most

/// Returns the reference to the pod for whose extended resources the scheduler made this claim, or nullptr.
const json::object* OwningPod(const meta::Object& claim) {
  const json::string* generated = claim.Annotation("resource.kubernetes.io/extended-resource-claim");
  if (!generated || *generated != "true") return nullptr;
  for (const json::value& owner : ListAt(claim.Metadata(), "ownerReferences")) {
    if (!owner.is_object() || !BoolAt(owner.get_object(), "controller").value_or(false)) continue;
    const json::object& found = owner.get_object();
    return FindString(found, "kind") == "Pod" && FindString(found, "apiVersion") == "v1" ? &found : nullptr;
  }
  return nullptr;
}

std::int64_t DevicesOf(const json::object& request) {
  const std::string_view mode = FindString(request, "allocationMode");
  if (mode == "ExactCount") return NumberAt(request, "count").value_or(0);
  return mode == "All" ? kMaxDevicesOfRequest : 0;
}

/// Returns the devices that the claim requests, by class. Of alternatives, the largest one of each class counts.
std::map<std::string, std::int64_t> DevicesByClass(const meta::Object& claim) {
  std::map<std::string, std::int64_t> devices;
  ForEach(ObjectAt(SpecOf(claim), "devices"), "requests", [&devices](const json::object& request) {
    if (ListAt(request, "firstAvailable").empty()) {
      // In resource.k8s.io/v1beta1, the fields of `exactly` are fields of the request itself.
      const json::object& exactly = Has(request, "exactly") ? ObjectAt(request, "exactly") : request;
      if (!Has(exactly, "deviceClassName")) return;
      devices[std::string(FindString(exactly, "deviceClassName"))] += DevicesOf(exactly);
      return;
    }
    std::map<std::string, std::int64_t> largest;
    ForEach(request, "firstAvailable", [&largest](const json::object& alternative) {
      const std::int64_t wanted = DevicesOf(alternative);
      std::int64_t& most = largest[std::string(FindString(alternative, "deviceClassName"))];
      most = std::max(most, wanted);
    });
    for (const auto& [name, most] : largest) {
      if (most > 0) devices[name] += most;
    }
  });
  return devices;
}

class ResourceClaimEvaluator final : public Evaluator {
 public:
  ResourceClaimEvaluator(ClaimSurroundings surroundings, WallTime now)
      : surroundings_(std::move(surroundings)), now_(now) {
    for (const ObjectPtr& device_class : surroundings_.device_classes) {
      const std::string name(device_class->Name()), extended(FindString(SpecOf(*device_class), "extendedResourceName"));
      resources_.insert(std::string(kDeviceClassPrefix) + name);
      if (extended.empty()) continue;
      resources_.insert(extended);
      extended_by_class_[name] = extended;
    }
  }

  bool Uses(std::string_view name) const override {
    if (name == kCount || name.ends_with(kOfClass)) return true;
    if (!IsExtendedResourceOfQuota(name)) return false;
    return resources_.contains(name.substr(kRequestsPrefix.size()));
  }

  Measurement Measure(const meta::Object& claim) const override {
    Measurement measured;
    measured.usage[kCount] = meta::Quantity(1);
    const Amounts counted = CountedForPod(claim);
    for (const auto& [name, count] : DevicesByClass(claim)) {
      measured.usage[name + std::string(kOfClass)] = meta::Quantity(count);
      if (name.empty()) continue;
      AddRest(std::string(kDeviceClassPrefix) + name, count, counted, measured.usage);
      const auto extended = extended_by_class_.find(name);
      if (extended != extended_by_class_.end()) AddRest(extended->second, count, counted, measured.usage);
    }
    return measured;
  }

 private:
  /// Adds what was not already counted for the pod.
  static void AddRest(const std::string& resource, std::int64_t count, const Amounts& counted, Amounts& usage) {
    const std::string name = std::string(kRequestsPrefix) + resource;
    meta::Quantity rest(count);
    if (const auto found = counted.find(name); found != counted.end()) rest.Sub(found->second);
    if (rest.Sign() > 0) usage[name] = rest;
  }

  /// Returns the usage of the pod that owns the claim, if the claim is the one for the extended resources of the pod.
  Amounts CountedForPod(const meta::Object& claim) const {
    const json::object* owner = OwningPod(claim);
    const ObjectPtr& pod = surroundings_.pod;
    if (!owner || !pod || pod->Name() != FindString(*owner, "name") || pod->Uid() != FindString(*owner, "uid"))
      return {};
    const json::object& status = ObjectAt(pod->Root(), "status");
    if (Has(status, "extendedResourceClaimStatus")) {
      if (FindString(status, "extendedResourceClaimStatus", "resourceClaimName") != claim.Name()) return {};
    } else if (HasEarlierClaim(claim, pod->Uid())) {
      return {};
    }
    return NewPodEvaluator(now_)->Measure(*pod).usage;
  }

  bool HasEarlierClaim(const meta::Object& claim, std::string_view pod_uid) const {
    const auto order = [](const meta::Object& one) {
      return std::pair(FindString(one.Metadata(), "creationTimestamp"), one.Name());
    };
    return std::any_of(surroundings_.claims.begin(), surroundings_.claims.end(), [&](const ObjectPtr& other) {
      const json::object* owner = OwningPod(*other);
      return owner && FindString(*owner, "uid") == pod_uid && order(*other) < order(claim);
    });
  }

  const ClaimSurroundings surroundings_;
  const WallTime now_;
  std::set<std::string, std::less<>> resources_;  // names of extended resources that device classes stand for
  std::map<std::string, std::string> extended_by_class_;
};

}  // namespace

EvaluatorPtr NewResourceClaimEvaluator(ClaimSurroundings surroundings, WallTime now) {
  return std::make_shared<const ResourceClaimEvaluator>(std::move(surroundings), now);
}

Task<meta::Result<ClaimSurroundings>> ReadSurroundings(meta::RequestContext ctx, ObjectsPtr objects, std::string ns,
                                                       const meta::Object& claim) {
  static const meta::Gvr kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses"};
  static const meta::Gvr kClaims{"resource.k8s.io", "v1", "resourceclaims"};
  static const meta::Gvr kPods{"", "v1", "pods"};
  const json::object* owner = OwningPod(claim);
  const std::string pod_name(owner ? FindString(*owner, "name") : std::string_view());
  ClaimSurroundings surroundings;
  ASSIGN_OR_CO_RETURN(surroundings.device_classes, co_await objects->List(ctx, kDeviceClasses, ""));
  if (pod_name.empty()) co_return surroundings;
  const meta::Result<ObjectPtr> pod = co_await objects->Get(ctx, kPods, ns, pod_name);
  if (!pod) co_return surroundings;
  surroundings.pod = *pod;
  ASSIGN_OR_CO_RETURN(surroundings.claims, co_await objects->List(ctx, kClaims, ns));
  co_return surroundings;
}

}  // namespace apimesh::admission::resource_quota
