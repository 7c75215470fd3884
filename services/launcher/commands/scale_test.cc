#include "services/launcher/commands/scale.h"

#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

constexpr const char* kServices = R"({"items": [
  {"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"}}, "spec": {"version": "v1"}},
  {"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"}}, "spec": {"group": "apps"}},
  {"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": "true"}}, "spec": {"group": "example.com"}},
  {"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"}}, "spec": {"group": "apiextensions.k8s.io"}},
  {"metadata": {}, "spec": {"group": "metrics.k8s.io", "service": {"name": "metrics"}}}]})";

TEST(ProgramOf, FollowsTheApiServices) {
  std::string why;
  EXPECT_EQ(ProgramOf("core", kServices, why), "core-api");
  EXPECT_EQ(ProgramOf("apps", kServices, why), "core-api");
  EXPECT_EQ(ProgramOf("example.com", kServices, why), "extensions-api");
  EXPECT_EQ(why, "");
}

TEST(ProgramOf, SaysWhyAGroupCannotBeScaled) {
  std::string why;
  EXPECT_EQ(ProgramOf("metrics.k8s.io", kServices, why), "");
  EXPECT_NE(why.find("cannot be scaled"), std::string::npos) << why;
  EXPECT_EQ(ProgramOf("apiextensions.k8s.io", kServices, why), "");
  EXPECT_NE(why.find("cannot be scaled"), std::string::npos) << why;
  EXPECT_EQ(ProgramOf("batch", kServices, why), "");
  EXPECT_NE(why.find("the groups are: apiextensions.k8s.io, apps, core"), std::string::npos) << why;
  EXPECT_EQ(ProgramOf("apps", "", why), "");
  EXPECT_NE(why.find("does not list its groups"), std::string::npos) << why;
}

}  // namespace
}  // namespace apimesh::launcher
