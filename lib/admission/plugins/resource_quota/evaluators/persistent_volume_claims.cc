#include "lib/admission/plugins/resource_quota/evaluators/persistent_volume_claims.h"

#include <optional>

#include "lib/admission/fields.h"

namespace apimesh::admission::resource_quota {
namespace {

constexpr const char *kCount = "count/persistentvolumeclaims", *kClaims = "persistentvolumeclaims",
                     *kStorage = "requests.storage";
const std::string kOfClass = ".storageclass.storage.k8s.io/";

std::string StorageClassOf(const meta::Object& claim) {
  const json::string* annotated = claim.Annotation("volume.beta.kubernetes.io/storage-class");
  return annotated ? std::string(*annotated) : std::string(meta::FindString(SpecOf(claim), "storageClassName"));
}

/// Storage is counted in whole bytes.
meta::Quantity RoundedUp(meta::Quantity amount) {
  const meta::Quantity whole(amount.Value(), amount.GetFormat());
  return whole > amount ? whole : amount;
}

/// Returns the larger one of the requested and the allocated storage. A claim that cannot grow keeps what was allocated
/// for it after its request was reduced again.
std::optional<meta::Quantity> StorageOf(const meta::Object& claim) {
  const Amounts requests = ReadAmounts(ObjectAt(ObjectAt(SpecOf(claim), "resources"), "requests"));
  const auto requested = requests.find("storage");
  if (requested == requests.end()) return std::nullopt;
  const meta::Quantity rounded = RoundedUp(requested->second);
  const Amounts allocated = ReadAmounts(ObjectAt(ObjectAt(claim.Root(), "status"), "allocatedResources"));
  const auto found = allocated.find("storage");
  return found != allocated.end() && found->second > rounded ? RoundedUp(found->second) : rounded;
}

std::vector<std::string> AttributesClassesOf(const meta::Object& claim) {
  const json::object& status = ObjectAt(claim.Root(), "status");
  std::set<std::string> names = {
      std::string(meta::FindString(SpecOf(claim), "volumeAttributesClassName")),
      std::string(meta::FindString(status, "currentVolumeAttributesClassName")),
      std::string(meta::FindString(status, "modifyVolumeStatus", "targetVolumeAttributesClassName"))};
  names.erase("");
  return {names.begin(), names.end()};
}

class PersistentVolumeClaimEvaluator final : public Evaluator {
 public:
  bool Uses(std::string_view name) const override {
    return name == kCount || name == kClaims || name == kStorage || name.ends_with(kOfClass + kClaims) ||
           name.ends_with(kOfClass + kStorage);
  }
  Measurement Measure(const meta::Object& claim) const override {
    Measurement measured;
    Amounts& usage = measured.usage;
    usage = {{kCount, meta::Quantity(1)}, {kClaims, meta::Quantity(1)}};
    const std::string storage_class = StorageClassOf(claim);
    if (!storage_class.empty()) usage[storage_class + kOfClass + kClaims] = meta::Quantity(1);
    if (const std::optional<meta::Quantity> storage = StorageOf(claim)) {
      usage[kStorage] = *storage;
      if (!storage_class.empty()) usage[storage_class + kOfClass + kStorage] = *storage;
    }
    measured.scopes.SetValues("VolumeAttributesClass", AttributesClassesOf(claim));
    return measured;
  }
};

}  // namespace

EvaluatorPtr NewPersistentVolumeClaimEvaluator() {
  static const EvaluatorPtr evaluator = std::make_shared<const PersistentVolumeClaimEvaluator>();
  return evaluator;
}

}  // namespace apimesh::admission::resource_quota
