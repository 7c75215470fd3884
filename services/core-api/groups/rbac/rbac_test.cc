#include <gtest/gtest.h>

#include "services/core-api/groups/rbac/bindings.h"
#include "services/core-api/groups/rbac/roles.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedKindCase kCases[] = {
    {"Role",
     &RoleResource,
     R"({"rules":[{"verbs":[]},{"verbs":["get"],"nonResourceURLs":["/x"]},{"verbs":["get"],"apiGroups":[""]}]})",
     {"rules[0].verbs: Required value: verbs must contain at least one value",
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[0].resources: Required value: resource rules must supply at least one resource",
      "rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs",
      "rules[2].resources: Required value: resource rules must supply at least one resource"}},
    {"ClusterRole",
     &ClusterRoleResource,
     R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resources":["pods"]}],"aggregationRule":{}})",
     {"rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and "
      "non-resource URLs",
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if "
      "aggregationRule is non-nil"}},
    {"ClusterRoleSelectors",
     &ClusterRoleResource,
     R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}},{"matchExpressions":[{"key":"a","operator":"X"}]}]}})",
     {"aggregationRule.clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value: \"X\": not a valid "
      "selector operator",
      "aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector."}},
    {"RoleBinding",
     &RoleBindingResource,
     R"({"roleRef":{"kind":"X","name":""},"subjects":[{"kind":"User"},{"kind":"Group","name":"g","apiGroup":"x"},{"kind":"Z","name":"g"}]})",
     {R"(roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole")",
      "roleRef.name: Required value", "subjects[0].name: Required value",
      R"(subjects[1].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io")",
      R"(subjects[2].kind: Unsupported value: "Z": supported values: "ServiceAccount", "User", "Group")"}},
    {"ClusterRoleBinding",
     &ClusterRoleBindingResource,
     R"({"roleRef":{"kind":"Role","name":"x"},"subjects":[{"kind":"ServiceAccount","name":"a"}]})",
     {R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")",
      "subjects[0].namespace: Required value"}},
};
class RbacCreate : public ::testing::TestWithParam<NamedKindCase> {};

TEST_P(RbacCreate, Complains) { EXPECT_EQ(CreateErrors(GetParam().resource({}), GetParam().json), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, RbacCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RoleBinding, NeverPointsElsewhere) {
  EXPECT_EQ(
      UpdateErrors(RoleBindingResource({}), R"({"roleRef":{"kind":"Role","name":"x"}})",
                   R"({"roleRef":{"kind":"Role","name":"y"}})"),
      Strings{
          R"(roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: cannot change roleRef)"});
}

TEST(RoleBinding, Table) {
  EXPECT_EQ(Row(RoleBindingResource({}), R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"x"},"subjects":[
      {"kind":"User","name":"u"},{"kind":"Group","name":"g"},{"kind":"Group","name":"h"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]})"),
            R"(["b","Role/x","<unknown>","u","g, h","n/s"])");
}

}  // namespace
}  // namespace apimesh::core_api
