#include "services/core-api/features/rule_features.h"

#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

TEST(RuleFeatures, HaveTheDefaultsOfTheirGates) {
  const RuleFeatures defaults, derived = RuleFeaturesOf(features::FeatureGates());
  for (const RuleFeature& feature : AllRuleFeatures())
    EXPECT_EQ(defaults.*feature.value, derived.*feature.value) << feature.gate;
}

TEST(RuleFeatures, FollowTheirGates) {
  for (const RuleFeature& feature : AllRuleFeatures()) {
    const bool opposite = !(RuleFeatures().*feature.value);
    const features::FeatureGates gates({std::string(feature.gate) + (opposite ? "=true" : "=false")});
    const RuleFeatures found = RuleFeaturesOf(gates);
    for (const RuleFeature& other : AllRuleFeatures()) {
      const bool is_set = other.value == feature.value;
      EXPECT_EQ(found.*other.value != RuleFeatures().*other.value, is_set) << feature.gate << " " << other.gate;
    }
  }
}

}  // namespace
}  // namespace apimesh::core_api
