#include "lib/features/feature_gates.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::features {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FeatureGates, HaveTheirDefaultsUnlessSet) {
  EXPECT_TRUE(FeatureGates().Enabled("WatchList"));
  EXPECT_FALSE(FeatureGates().Enabled("ClusterTrustBundle"));
  const FeatureGates gates({"kube:WatchList=f", " ClusterTrustBundle = 1 ", "NoSuchGate=true", "KMSv1=maybe"});
  EXPECT_FALSE(gates.Enabled("WatchList"));
  EXPECT_TRUE(gates.Enabled("ClusterTrustBundle"));
  EXPECT_FALSE(gates.Enabled("KMSv1"));
  EXPECT_EQ(gates.Set().size(), 2U);
}

TEST(FeatureGates, AllAlphaSetsWhatIsNotSet) {
  const FeatureGates gates({"GenericWorkload=false", "AllAlpha=true", "AllBeta=false", "WatchList=true"});
  EXPECT_FALSE(gates.Enabled("GenericWorkload"));
  EXPECT_TRUE(gates.Enabled("ContainerStopSignals") || FindGate("ContainerStopSignals")->stage != Stage::kAlpha);
  EXPECT_TRUE(gates.Enabled("WatchList"));
  for (const Gate& gate : AllGates()) {
    if (gate.name == "WatchList" || gate.name == "GenericWorkload" || gate.name == "AllAlpha") continue;
    if (gate.stage != Stage::kAlpha && gate.stage != Stage::kBeta) continue;
    EXPECT_EQ(gates.Enabled(gate.name), gate.stage == Stage::kAlpha) << gate.name;
  }
}

TEST(DependencyErrors, NameWhatIsOff) {
  EXPECT_THAT(DependencyErrors(FeatureGates()), IsEmpty());
  EXPECT_THAT(DependencyErrors(FeatureGates({"ClusterTrustBundleProjection=true"})),
              ElementsAre("ClusterTrustBundleProjection is enabled, but depends on features that are disabled: "
                          "[ClusterTrustBundle]"));
  EXPECT_THAT(DependencyErrors(FeatureGates({"GangScheduling=true", "WorkloadWithJob=true"})),
              ElementsAre("GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
                          "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]"));
}

TEST(FeatureGateTable, IsSortedAndConsistent) {
  EXPECT_TRUE(std::is_sorted(AllGates().begin(), AllGates().end(),
                             [](const Gate& a, const Gate& b) { return a.name < b.name; }));
  for (const Dependency& dependency : AllDependencies()) {
    EXPECT_TRUE(FindGate(dependency.gate)) << dependency.gate;
    EXPECT_TRUE(FindGate(dependency.needs)) << dependency.needs;
  }
#define APIMESH_GATE(name) EXPECT_TRUE(FindGate(#name) && HasEffect(#name)) << #name;
#include "lib/features/gates.inc"
#undef APIMESH_GATE
}

}  // namespace
}  // namespace apimesh::features
