#include "lib/admission/plugins/limit_pod_hard_anti_affinity_topology/limit_pod_hard_anti_affinity_topology.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write With(const std::string& affinity, Operation operation = Operation::kCreate,
           const std::string& resource = "pods") {
  return {.operation = operation,
          .resource = resource,
          .name = "p",
          .object = fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}}}}})", affinity)};
}
std::string Required(const std::string& terms) {
  return fmt::format(R"("affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})",
                     terms);
}
std::string Key(const std::string& key) { return fmt::format(R"({{"topologyKey":"{}"}})", key); }
std::string Refused(std::string_view key) {
  return fmt::format(
      R"(403 pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {} but only key )"
      "kubernetes.io/hostname is allowed",
      key);
}
const std::string kHost = Key("kubernetes.io/hostname"), kZone = Key("topology.kubernetes.io/zone");

class AntiAffinity : public ::testing::TestWithParam<PluginCase> {};
TEST_P(AntiAffinity, IsLimitedToNodes) { Check(*MakeLimitPodHardAntiAffinityTopology({}), GetParam()); }

const PluginCase kCases[] = {
    {"None", With(""), ""},
    {"Empty", With(R"("affinity":{})"), ""},
    {"NoTerms", With(Required("")), ""},
    {"Host", With(Required(kHost)), ""},
    {"TwoHosts", With(Required(kHost + "," + kHost)), ""},
    {"Preferred",
     With(R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":
       {"topologyKey":"zone"}}]}})"),
     ""},
    {"Affinity",
     With(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}})"),
     ""},
    {"Subresource", With(Required(kZone), Operation::kUpdate, "pods/status"), ""},
    {"OtherKind", With(Required(kZone), Operation::kCreate, "deployments.apps"), ""},
    {"Zone", With(Required(kZone)), Refused("topology.kubernetes.io/zone")},
    {"ZoneOnUpdate", With(Required(kZone), Operation::kUpdate), Refused("topology.kubernetes.io/zone")},
    {"SecondTerm", With(Required(kHost + "," + kZone)), Refused("topology.kubernetes.io/zone")},
    {"FirstTerm", With(Required(kZone + "," + kHost)), Refused("topology.kubernetes.io/zone")},
    {"Region", With(Required(Key("topology.kubernetes.io/region"))), Refused("topology.kubernetes.io/region")},
    {"Custom", With(Required(Key("rack"))), Refused("rack")},
    {"OtherCase", With(Required(Key("kubernetes.io/Hostname"))), Refused("kubernetes.io/Hostname")},
    {"EmptyKey", With(Required(Key(""))), Refused("")},
};
INSTANTIATE_TEST_SUITE_P(Table, AntiAffinity, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
