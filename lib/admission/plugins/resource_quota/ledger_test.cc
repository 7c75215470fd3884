#include "lib/admission/plugins/resource_quota/ledger.h"

#include "lib/admission/plugins/resource_quota/evaluators/object_count.h"
#include "lib/admission/plugins/resource_quota/evaluators/persistent_volume_claims.h"
#include "lib/admission/plugins/resource_quota/evaluators/pods.h"
#include "lib/admission/plugins/resource_quota/evaluators/services.h"
#include "lib/admission/testing_cluster.h"

namespace apimesh::admission::resource_quota {
namespace {

/// A quota with `hard`, `used` and the rest of its spec as JSON without braces.
QuotaPtr MakeQuota(const std::string& hard, const std::string& used, const std::string& spec = "") {
  return ReadQuota(std::make_shared<const meta::Object>(Parse(fmt::format(
      R"({{"metadata":{{"name":"q","resourceVersion":"5"}},"spec":{{{}}},"status":{{"hard":{{{}}},"used":{{{}}}}}}})",
      spec, hard, used))));
}

EvaluatorPtr EvaluatorOf(const std::string& resource) {
  if (resource == "pods") return NewPodEvaluator(WallTime());
  if (resource == "services") return NewServiceEvaluator();
  if (resource == "persistentvolumeclaims") return NewPersistentVolumeClaimEvaluator();
  return NewObjectCountEvaluator({"", resource});
}

struct LedgerCase {
  const char* test;
  std::string resource;
  std::string object;
  QuotaPtr quota;
  std::string error;  // "" if the write fits
  std::string used;   // of the quota, after the write
  std::string old_object = {};
  std::string subresource = {};
};

std::string Pod(const std::string& requests, const std::string& limits = "", const std::string& spec = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"p","resourceVersion":"1"}},"spec":{{{}"containers":[{{"name":"c","resources":{{"requests":{{{}}},"limits":{{{}}}}}}}]}}}})",
      spec, requests, limits);
}
std::string Service(const std::string& spec) {
  return fmt::format(R"({{"metadata":{{"name":"s","resourceVersion":"1"}},"spec":{{{}}}}})", spec);
}
std::string Claim(const std::string& storage, const std::string& spec = "", const std::string& status = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"c","resourceVersion":"1"}},"spec":{{{}"resources":{{"requests":{{"storage":"{}"}}}}}},"status":{{{}}}}})",
      spec, storage, status);
}

const std::string kForbidden = R"(403 pods "p" is forbidden: )";

class LedgerTable : public ::testing::TestWithParam<LedgerCase> {};

TEST_P(LedgerTable, Charge) {
  const LedgerCase& test = GetParam();
  const meta::Object object = Parse(test.object);
  std::optional<meta::Object> old;
  if (!test.old_object.empty()) old = Parse(test.old_object);
  Attributes attributes;
  attributes.operation = old ? Operation::kUpdate : Operation::kCreate;
  attributes.resource = {"", "v1", test.resource};
  attributes.subresource = test.subresource;
  attributes.object = const_cast<meta::Object*>(&object);
  attributes.old_object = old ? &*old : nullptr;
  Ledger ledger({test.quota});
  const meta::Result<bool> changed = ledger.Charge(DemandOf(attributes, EvaluatorOf(test.resource)), {});
  EXPECT_EQ(changed ? "" : fmt::format("{} {}", changed.error().Code(), changed.error().Message()), test.error);
  EXPECT_EQ(ToString(ledger.Entries()[0].used), test.used);
  if (changed) {
    EXPECT_EQ(*changed, ToString(test.quota->used) != test.used);
  }
}

const LedgerCase kCases[] = {
    {"APodFits", "pods", Pod(R"("cpu":"500m","memory":"1Gi")"),
     MakeQuota(R"("pods":"2","requests.cpu":"1","requests.memory":"2Gi")",
               R"("pods":"1","requests.cpu":"500m","requests.memory":"0")"),
     "", "pods=2,requests.cpu=1,requests.memory=1Gi"},
    {"APodExceedsOne", "pods", Pod(R"("cpu":"501m","memory":"1Gi")"),
     MakeQuota(R"("pods":"2","requests.cpu":"1","requests.memory":"2Gi")",
               R"("pods":"1","requests.cpu":"500m","requests.memory":"0")"),
     kForbidden + "exceeded quota: q, requested: requests.cpu=501m, used: requests.cpu=500m, limited: requests.cpu=1",
     "pods=1,requests.cpu=500m,requests.memory=0"},
    {"APodExceedsTwo", "pods", Pod(R"("cpu":"2")", R"("memory":"3Gi")"),
     MakeQuota(R"("cpu":"1","limits.memory":"2Gi")", R"("cpu":"0","limits.memory":"1Gi")"),
     kForbidden + "exceeded quota: q, requested: cpu=2,limits.memory=3Gi, used: cpu=0,limits.memory=1Gi, limited: "
                  "cpu=1,limits.memory=2Gi",
     "cpu=0,limits.memory=1Gi"},
    {"RequestsMustBeSpecified", "pods", Pod(R"("memory":"1Gi")"),
     MakeQuota(R"("requests.cpu":"1","memory":"2Gi","limits.cpu":"1")",
               R"("requests.cpu":"0","memory":"0","limits.cpu":"0")"),
     kForbidden + "failed quota: q: must specify limits.cpu for: c; requests.cpu for: c",
     "limits.cpu=0,memory=0,requests.cpu=0"},
    {"PodLevelResourcesNeedNoContainerResources", "pods", Pod("", "", R"("resources":{"requests":{"cpu":"1"}},)"),
     MakeQuota(R"("requests.cpu":"1","memory":"2Gi")", R"("requests.cpu":"0","memory":"0")"), "",
     "memory=0,requests.cpu=1"},
    {"EphemeralStorageNeedNotBeSpecified", "pods", Pod(""),
     MakeQuota(R"("requests.ephemeral-storage":"1","limits.ephemeral-storage":"1")",
               R"("requests.ephemeral-storage":"1","limits.ephemeral-storage":"1")"),
     "", "limits.ephemeral-storage=1,requests.ephemeral-storage=1"},
    {"ExtendedResources", "pods", Pod(R"("example.com/gpu":"2")", R"("example.com/gpu":"2")"),
     MakeQuota(R"("requests.example.com/gpu":"1")", R"("requests.example.com/gpu":"0")"),
     kForbidden +
         "exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=0, limited: "
         "requests.example.com/gpu=1",
     "requests.example.com/gpu=0"},
    {"HugePages", "pods", Pod(R"("hugepages-2Mi":"4Mi")", R"("hugepages-2Mi":"4Mi")"),
     MakeQuota(R"("hugepages-2Mi":"8Mi","requests.hugepages-2Mi":"8Mi")",
               R"("hugepages-2Mi":"2Mi","requests.hugepages-2Mi":"0")"),
     "", "hugepages-2Mi=6Mi,requests.hugepages-2Mi=4Mi"},
    {"InitContainersAndSidecars", "pods",
     Pod(R"("cpu":"1")", "",
         R"("initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"name":"i","resources":{"requests":{"cpu":"5"}}}],)"),
     MakeQuota(R"("requests.cpu":"10")", R"("requests.cpu":"0")"), "", "requests.cpu=7"},
    {"Overhead", "pods", Pod(R"("cpu":"1")", R"("cpu":"2")", R"("overhead":{"cpu":"250m","memory":"1Mi"},)"),
     MakeQuota(R"("requests.cpu":"10","limits.cpu":"10","limits.ephemeral-storage":"1")",
               R"("requests.cpu":"0","limits.cpu":"0","limits.ephemeral-storage":"0")"),
     "", "limits.cpu=2250m,limits.ephemeral-storage=0,requests.cpu=1250m"},
    {"AnEndedPodOnlyCounts", "pods", R"({"metadata":{"name":"p"},"spec":{},"status":{"phase":"Failed"}})",
     MakeQuota(R"("pods":"1","count/pods":"2")", R"("pods":"0","count/pods":"0")"), "", "count/pods=1,pods=0"},
    {"ALostPodOnlyCounts", "pods",
     R"({"metadata":{"name":"p","deletionTimestamp":"1960-01-01T00:00:00Z","deletionGracePeriodSeconds":30},"spec":{}})",
     MakeQuota(R"("pods":"1","count/pods":"2")", R"("pods":"0","count/pods":"0")"), "", "count/pods=1,pods=0"},
    {"UsageUnknown", "pods", Pod(R"("cpu":"1")"), MakeQuota(R"("pods":"1","count/pods":"3")", R"("pods":"0")"),
     kForbidden + "status unknown for quota: q, resources: count/pods,pods", "pods=0"},
    {"OtherResourcesMayBeUnknown", "pods", Pod(R"("cpu":"1")"),
     MakeQuota(R"("pods":"1","services":"3")", R"("pods":"0")"), "", "pods=1"},
    {"NegativeUsage", "pods", Pod(R"("cpu":"-1")"), MakeQuota(R"("cpu":"1")", R"("cpu":"0")"),
     kForbidden + "quota usage is negative for resource(s): cpu,requests.cpu", "cpu=0"},
    {"NoMatchingResource", "pods", Pod(R"("cpu":"1")"), MakeQuota(R"("services":"0")", R"("services":"0")"), "",
     "services=0"},

    {"ScopeTerminating", "pods", Pod("", "", R"("activeDeadlineSeconds":5,)"),
     MakeQuota(R"("pods":"0")", R"("pods":"0")", R"("scopes":["Terminating"])"),
     kForbidden + "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0", "pods=0"},
    {"ScopeTerminatingOfOthers", "pods", Pod(""),
     MakeQuota(R"("pods":"0")", R"("pods":"0")", R"("scopes":["Terminating"])"), "", "pods=0"},
    {"ScopeNotTerminatingAndBestEffort", "pods", Pod(""),
     MakeQuota(R"("pods":"1")", R"("pods":"0")", R"("scopes":["NotTerminating","BestEffort"])"), "", "pods=1"},
    {"ScopeBestEffortOfOthers", "pods", Pod(R"("cpu":"1")"),
     MakeQuota(R"("pods":"0")", R"("pods":"0")", R"("scopes":["BestEffort"])"), "", "pods=0"},
    {"ScopeNotBestEffort", "pods", Pod(R"("cpu":"1")"),
     MakeQuota(R"("pods":"1")", R"("pods":"0")", R"("scopes":["NotBestEffort"])"), "", "pods=1"},
    {"ScopeCrossNamespace", "pods",
     Pod("", "",
         R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"namespaceSelector":{}}}]}},)"),
     MakeQuota(
         R"("pods":"1")", R"("pods":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"CrossNamespacePodAffinity","operator":"Exists"}]})"),
     "", "pods=1"},
    {"ScopePriorityClassIn", "pods", Pod("", "", R"("priorityClassName":"high",)"),
     MakeQuota(
         R"("pods":"1")", R"("pods":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["low","high"]}]})"),
     "", "pods=1"},
    {"ScopePriorityClassNotIn", "pods", Pod("", "", R"("priorityClassName":"high",)"),
     MakeQuota(
         R"("pods":"1")", R"("pods":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["high"]}]})"),
     "", "pods=0"},
    {"ScopePriorityClassNotInWithoutClass", "pods", Pod(""),
     MakeQuota(
         R"("pods":"1")", R"("pods":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["high"]}]})"),
     "", "pods=1"},
    {"ScopePriorityClassDoesNotExist", "pods", Pod(""),
     MakeQuota(R"("pods":"1")", R"("pods":"0")",
               R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"DoesNotExist"}]})"),
     "", "pods=1"},
    {"ScopePriorityClassExists", "pods", Pod(""),
     MakeQuota(R"("pods":"1")", R"("pods":"0")", R"("scopes":["PriorityClass"])"), "", "pods=0"},
    {"ScopeWithAnInvalidValue", "pods", Pod("", "", R"("priorityClassName":"high",)"),
     MakeQuota(
         R"("pods":"1")", R"("pods":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a","b!"]}]})"),
     "500 error matching scopes of quota q, err: error on matching scope {PriorityClass In [a b!]}: failed to parse "
     "and convert selector: values[1][PriorityClass]: Invalid value: \"b!\": a valid label must be an empty string or "
     "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
     "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
     "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
     "pods=0"},
    {"ScopesDoNotMatchOtherKinds", "services", Service(R"("type":"ClusterIP")"),
     MakeQuota(R"("services":"0")", R"("services":"0")", R"("scopes":["NotTerminating"])"), "", "services=0"},

    {"APodThatGetsADeadlineMovesToAnotherQuota", "pods", Pod(R"("cpu":"1")", "", R"("activeDeadlineSeconds":5,)"),
     MakeQuota(R"("pods":"1","cpu":"2")", R"("pods":"0","cpu":"0")", R"("scopes":["Terminating"])"), "", "cpu=1,pods=1",
     Pod(R"("cpu":"1")")},
    {"AResizeCountsTheDifference", "pods", Pod(R"("cpu":"3")"),
     MakeQuota(R"("pods":"1","cpu":"4")", R"("pods":"1","cpu":"1")"), "", "cpu=3,pods=1", Pod(R"("cpu":"1")"),
     "resize"},
    {"AResizeExceeds", "pods", Pod(R"("cpu":"6")"), MakeQuota(R"("pods":"1","cpu":"4")", R"("pods":"1","cpu":"1")"),
     kForbidden + "exceeded quota: q, requested: cpu=5, used: cpu=1, limited: cpu=4", "cpu=1,pods=1",
     Pod(R"("cpu":"1")"), "resize"},
    {"AResizeToLessGivesNothingBack", "pods", Pod(R"("cpu":"1")"), MakeQuota(R"("cpu":"4")", R"("cpu":"3")"), "",
     "cpu=3", Pod(R"("cpu":"3")"), "resize"},
    {"AResizeCountsWhatIsAllocated", "pods", Pod(R"("cpu":"2")"), MakeQuota(R"("cpu":"9")", R"("cpu":"4")"), "",
     "cpu=4",
     R"({"metadata":{"name":"p","resourceVersion":"1"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"4"}},"allocatedResources":{"cpu":"3"}}]}})",
     "resize"},
    {"AnUpdateOfAnOverdrawnQuotaThatAddsNothing", "pods", Pod(R"("cpu":"1")"),
     MakeQuota(R"("cpu":"1")", R"("cpu":"5")"), "", "cpu=5", Pod(R"("cpu":"1")"), "resize"},

    {"NodePorts", "services", Service(R"("type":"NodePort","ports":[{"port":1},{"port":2}])"),
     MakeQuota(R"("services":"5","services.nodeports":"5","services.loadbalancers":"0","count/services":"1")",
               R"("services":"0","services.nodeports":"1","services.loadbalancers":"0","count/services":"0")"),
     "", "count/services=1,services=1,services.loadbalancers=0,services.nodeports=3"},
    {"LoadBalancers", "services", Service(R"("type":"LoadBalancer","ports":[{"port":1}])"),
     MakeQuota(R"("services.nodeports":"5","services.loadbalancers":"0")",
               R"("services.nodeports":"0","services.loadbalancers":"0")"),
     R"(403 services "s" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0)",
     "services.loadbalancers=0,services.nodeports=0"},
    {"LoadBalancersWithoutNodePorts", "services",
     Service(
         R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1},{"port":2,"nodePort":30000}])"),
     MakeQuota(R"("services.nodeports":"5","services.loadbalancers":"1")",
               R"("services.nodeports":"0","services.loadbalancers":"0")"),
     "", "services.loadbalancers=1,services.nodeports=1"},
    {"AServiceThatChangesItsType", "services", Service(R"("type":"NodePort","ports":[{"port":1}])"),
     MakeQuota(R"("services":"1","services.nodeports":"0")", R"("services":"1","services.nodeports":"0")"),
     R"(403 services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0)",
     "services=1,services.nodeports=0", Service(R"("type":"ClusterIP","ports":[{"port":1}])")},

    {"Claims", "persistentvolumeclaims", Claim("1500m", R"("storageClassName":"gold",)"),
     MakeQuota(
         R"("persistentvolumeclaims":"2","requests.storage":"5","gold.storageclass.storage.k8s.io/requests.storage":"5","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"1","tin.storageclass.storage.k8s.io/requests.storage":"0")",
         R"("persistentvolumeclaims":"0","requests.storage":"0","gold.storageclass.storage.k8s.io/requests.storage":"0","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"0","tin.storageclass.storage.k8s.io/requests.storage":"0")"),
     "",
     "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/"
     "requests.storage=2,persistentvolumeclaims=1,requests.storage=2,tin.storageclass.storage.k8s.io/"
     "requests.storage=0"},
    {"AClaimGrows", "persistentvolumeclaims", Claim("3Gi"),
     MakeQuota(R"("requests.storage":"2Gi")", R"("requests.storage":"1Gi")"),
     R"(403 persistentvolumeclaims "c" is forbidden: exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi)",
     "requests.storage=1Gi", Claim("1Gi")},
    {"AllocatedStorage", "persistentvolumeclaims", Claim("1Gi", "", R"("allocatedResources":{"storage":"4Gi"})"),
     MakeQuota(R"("requests.storage":"9Gi")", R"("requests.storage":"0")"), "", "requests.storage=4Gi"},
    {"AStatusIsNeverRefused", "persistentvolumeclaims", Claim("1Gi", "", R"("allocatedResources":{"storage":"4Gi"})"),
     MakeQuota(R"("requests.storage":"2Gi")", R"("requests.storage":"1Gi")"), "", "requests.storage=4Gi", Claim("1Gi"),
     "status"},
    {"ScopeVolumeAttributesClass", "persistentvolumeclaims",
     Claim("1", R"("volumeAttributesClassName":"fast",)", R"("currentVolumeAttributesClassName":"slow")"),
     MakeQuota(
         R"("persistentvolumeclaims":"1")", R"("persistentvolumeclaims":"0")",
         R"("scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["slow"]}]})"),
     "", "persistentvolumeclaims=1"},

    {"ShortNames", "configmaps", R"({"metadata":{"name":"c"}})",
     MakeQuota(R"("configmaps":"1","count/configmaps":"0")", R"("configmaps":"0","count/configmaps":"0")"),
     R"(403 configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0)",
     "configmaps=0,count/configmaps=0"},
    {"AnyResource", "widgets", R"({"metadata":{"generateName":"w-"}})",
     MakeQuota(R"("count/widgets":"0")", R"("count/widgets":"0")"),
     R"(403 widgets "w-" is forbidden: exceeded quota: q, requested: count/widgets=1, used: count/widgets=0, limited: count/widgets=0)",
     "count/widgets=0"},
};
INSTANTIATE_TEST_SUITE_P(Table, LedgerTable, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.test); });

TEST(Ledger, ChargesSeveralWritesAndQuotas) {
  Ledger ledger({MakeQuota(R"("pods":"3")", R"("pods":"1")"), MakeQuota(R"("count/pods":"9")", R"("count/pods":"0")")});
  const meta::Object pod = Parse(Pod(""));
  Attributes attributes;
  attributes.resource = {"", "v1", "pods"};
  attributes.object = const_cast<meta::Object*>(&pod);
  attributes.dry_run = true;
  EXPECT_FALSE(*ledger.Charge(DemandOf(attributes, NewPodEvaluator(WallTime())), {})) << "a dry run is not charged";
  attributes.dry_run = false;
  const Demand demand = DemandOf(attributes, NewPodEvaluator(WallTime()));
  EXPECT_TRUE(*ledger.Charge(demand, {}));
  EXPECT_TRUE(*ledger.Charge(demand, {}));
  EXPECT_FALSE(ledger.Charge(demand, {}));
  EXPECT_EQ(ToString(ledger.Entries()[0].used), "pods=3");
  EXPECT_EQ(ToString(ledger.Entries()[1].used), "count/pods=2") << "a write that is refused is charged nowhere";
}

TEST(Ledger, LimitedResourcesNeedAQuota) {
  const std::vector<LimitedResource> limited = ReadLimitedResources(R"(
apiVersion: apiserver.config.k8s.io/v1
kind: ResourceQuotaConfiguration
limitedResources:
- resource: pods
  matchContains: [requests.cpu, limits]
- resource: pods
  matchScopes:
  - {scopeName: PriorityClass, operator: In, values: [high, higher]}
)");
  const auto charge = [&limited](const std::string& object, std::vector<QuotaPtr> quotas) {
    const meta::Object pod = Parse(object);
    Attributes attributes;
    attributes.resource = {"", "v1", "pods"};
    attributes.object = const_cast<meta::Object*>(&pod);
    Ledger ledger(std::move(quotas));
    const meta::Result<bool> changed = ledger.Charge(DemandOf(attributes, NewPodEvaluator(WallTime())), limited);
    return changed ? "" : fmt::format("{} {}", changed.error().Code(), changed.error().Message());
  };
  const QuotaPtr cpu = MakeQuota(R"("requests.cpu":"9")", R"("requests.cpu":"0")");
  EXPECT_EQ(charge(Pod(R"("memory":"1")"), {}), "");
  EXPECT_EQ(charge(Pod(R"("cpu":"1")"), {}), kForbidden + "insufficient quota to consume: requests.cpu");
  EXPECT_EQ(charge(Pod(R"("cpu":"1")", R"("cpu":"1")"), {cpu}),
            kForbidden + "insufficient quota to consume: limits.cpu");
  EXPECT_EQ(charge(Pod(R"("cpu":"1")"), {cpu}), "");
  EXPECT_EQ(charge(Pod("", "", R"("priorityClassName":"high",)"), {}),
            "500 insufficient quota to match these scopes: [{PriorityClass In [high higher]}]");
  EXPECT_EQ(charge(Pod("", "", R"("priorityClassName":"high",)"),
                   {MakeQuota(R"("pods":"9")", R"("pods":"0")", R"("scopes":["PriorityClass"])")}),
            "");
  EXPECT_EQ(charge(Pod("", "", R"("priorityClassName":"low",)"), {}), "");
}

}  // namespace
}  // namespace apimesh::admission::resource_quota
