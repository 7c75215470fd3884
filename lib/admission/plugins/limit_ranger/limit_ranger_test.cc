#include "lib/admission/plugins/limit_ranger/limit_ranger.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Resources(const std::string& requests, const std::string& limits) {
  return fmt::format(R"("resources":{{"requests":{{{}}},"limits":{{{}}}}})", requests, limits);
}
std::string PodOf(const std::string& spec) {
  return fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}}}}})", spec);
}
Write CreatesPod(const std::string& requests, const std::string& limits) {
  return {.resource = "pods",
          .object = PodOf(fmt::format(R"("containers":[{{"name":"c",{}}}])", Resources(requests, limits)))};
}
Write Claims(const std::string& storage, Operation operation = Operation::kCreate) {
  return {.operation = operation,
          .resource = "persistentvolumeclaims",
          .name = "p",
          .object = fmt::format(R"({{"spec":{{"resources":{{"requests":{{{}}}}}}}}})", storage)};
}
std::string OfPod(std::string_view why) { return fmt::format(R"(403 pods "p" is forbidden: {})", why); }
std::string OfClaim(std::string_view why) {
  return fmt::format(R"(403 persistentvolumeclaims "p" is forbidden: {})", why);
}
/// Sidecars run beside all other containers, so they count twice: for the pod and for the init containers after them.
const char kSidecars[] = R"("containers":[{"name":"c","resources":{"requests":{"memory":"100Mi"},"limits":
  {"memory":"100Mi"}}}],"initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":
  {"memory":"300Mi"},"limits":{"memory":"300Mi"}}},{"name":"i","resources":{"requests":{"memory":"400Mi"},"limits":
  {"memory":"400Mi"}}}])";

class LimitRanges : public ::testing::TestWithParam<PluginCase> {
 protected:
  void Limit(const std::string& limits, const std::string& name = "limits") {
    cluster_.Put(
        {"", "limitranges"}, "ns/" + name,
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"}},"spec":{{"limits":[{}]}}}})", name, limits));
  }
  TestCluster cluster_;
};

TEST_P(LimitRanges, AreEnforced) {
  Limit(R"({"type":"Container","min":{"cpu":"50m"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"4"}},
           {"type":"Pod","max":{"memory":"600Mi"}},
           {"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"10Gi"}})");
  Check(*MakeLimitRanger(cluster_.Inputs()), GetParam());
}

const std::string kMemory = R"("memory":"100Mi")";
const std::string kCpu = R"("cpu":"1")";
const PluginCase kCases[] = {
    {"Within", CreatesPod(R"("cpu":"500m",)" + kMemory, kCpu + "," + kMemory), ""},
    {"AtTheMinimum", CreatesPod(R"("cpu":"50m",)" + kMemory, R"("cpu":"200m",)" + kMemory), ""},
    {"AtTheMaximum", CreatesPod(R"("cpu":"2",)" + kMemory, R"("cpu":"2000m","memory":"600Mi")"), ""},
    {"ClaimWithin", Claims(R"("storage":"5Gi")"), ""},
    {"ClaimAtTheMaximum", Claims(R"("storage":"10Gi")", Operation::kUpdate), ""},
    {"UpdateOfAPod",
     {.operation = Operation::kUpdate, .resource = "pods", .object = PodOf(""), .old_object = PodOf("")},
     ""},
    {"OtherNamespace", {.resource = "pods", .object = PodOf(R"("containers":[{"name":"c"}])"), .ns = "other"}, ""},
    {"ResizeOfADyingPod",
     {.operation = Operation::kUpdate,
      .resource = "pods/resize",
      .object = PodOf(R"("containers":[{"name":"c"}])"),
      .old_object = R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})"},
     ""},
    {"Below", CreatesPod(R"("cpu":"40m",)" + kMemory, R"("cpu":"100m",)" + kMemory),
     OfPod("minimum cpu usage per Container is 50m, but request is 40m")},
    {"LimitBelow", CreatesPod(R"("cpu":"50m",)" + kMemory, R"("cpu":"49m",)" + kMemory),
     OfPod("minimum cpu usage per Container is 50m, but limit is 49m")},
    {"Above", CreatesPod(R"("cpu":"2",)" + kMemory, R"("cpu":"2001m",)" + kMemory),
     OfPod("maximum cpu usage per Container is 2, but limit is 2001m")},
    {"RatioTooLarge", CreatesPod(R"("cpu":"100m",)" + kMemory, R"("cpu":"500m",)" + kMemory),
     OfPod("cpu max limit to request ratio per Container is 4, but provided ratio is 5.000000")},
    {"PodAbove", CreatesPod(kCpu + "," + kMemory, kCpu + R"(,"memory":"1Gi")"),
     OfPod("maximum memory usage per Pod is 600Mi, but limit is 1Gi")},
    {"SeveralErrors", CreatesPod(R"("memory":"1Mi")", R"("memory":"1Mi")"),
     OfPod(
         "[minimum cpu usage per Container is 50m.  No request is specified, maximum cpu usage per Container is 2.  No "
         "limit is specified, cpu max limit to request ratio per Container is 4, but no request is specified or "
         "request is 0]")},
    {"Resize",
     {.operation = Operation::kUpdate,
      .resource = "pods/resize",
      .name = "p",
      .object =
          PodOf(R"("containers":[{"name":"c","resources":{"requests":{"cpu":"3","memory":"1Mi"},"limits":{"cpu":"3",
        "memory":"1Mi"}}}])"),
      .old_object = PodOf("")},
     OfPod("maximum cpu usage per Container is 2, but limit is 3")},
    {"ClaimBelow", Claims(R"("storage":"1Mi")"),
     OfClaim("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi")},
    {"ClaimAbove", Claims(R"("storage":"11Gi")", Operation::kUpdate),
     OfClaim("maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi")},
    {"ClaimWithoutRequest", Claims(""),
     OfClaim("[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, maximum storage usage "
             "per PersistentVolumeClaim is 10Gi.  No request is specified]")},
};
INSTANTIATE_TEST_SUITE_P(Table, LimitRanges, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(LimitRanges, SetDefaults) {
  Limit(R"({"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"100m"}},
           {"type":"Pod","max":{"cpu":"100"}})");
  const std::unique_ptr<Plugin> plugin = MakeLimitRanger(cluster_.Inputs());
  const Outcome outcome = TestCluster::Run(
      *plugin, {.resource = "pods",
                .object = PodOf(R"("containers":[{"name":"a"},{"name":"b","resources":{"limits":{"cpu":"2"},"requests":
                  {"cpu":"2"}}}],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}])")});
  EXPECT_EQ(outcome.error, "");
  const meta::json::value root = outcome.object.Root();
  EXPECT_EQ(root.at_pointer("/spec/containers/0/resources"),
            boost::json::parse(R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}})"));
  EXPECT_EQ(root.at_pointer("/metadata/annotations/kubernetes.io~1limit-ranger"),
            "LimitRanger plugin set: cpu request for container a; cpu, memory limit for container a; memory limit for "
            "container b; cpu, memory limit for init container i");
}

TEST_F(LimitRanges, CountSidecarsForThePod) {
  Limit(R"({"type":"Pod","max":{"memory":"600Mi"}})");
  Check(*MakeLimitRanger(cluster_.Inputs()), {"Sidecars",
                                              {.resource = "pods", .object = PodOf(kSidecars)},
                                              OfPod("maximum memory usage per Pod is 600Mi, but limit is 700Mi")});
  Check(*MakeLimitRanger(cluster_.Inputs()),
        {"PodLevel",
         {.resource = "pods",
          .object = PodOf(std::string(kSidecars) + R"(,"resources":{"limits":{"memory":"600Mi"},"requests":
            {"memory":"600Mi"}})")},
         ""});
}

TEST_F(LimitRanges, WithoutLimitsPodsStayAsTheyAre) {
  Check(*MakeLimitRanger(cluster_.Inputs()),
        {"NoLimits", CreatesPod("", ""), "", R"({"metadata":{"annotations":null}})"});
}

TEST_F(LimitRanges, RefusesPodsIfLimitsCannotBeRead) {
  cluster_.Forget({"", "limitranges"});
  const std::string refused =
      OfPod("unable to CREATE /v1, Resource=pods at this time because there was an error enforcing limit ranges");
  Check(*MakeLimitRanger(cluster_.Inputs()), {"Forgotten", CreatesPod("", ""), refused});
  Check(*MakeLimitRanger({}), {"Blind", CreatesPod("", ""), refused});
}

}  // namespace
}  // namespace apimesh::admission
