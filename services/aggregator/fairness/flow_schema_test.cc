#include "services/aggregator/fairness/flow_schema.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

FlowSchema Schema(const std::string& rule, const std::string& more = "") {
  const std::string text =
      R"({"metadata":{"name":"x","uid":"u"},"spec":{"priorityLevelConfiguration":{"name":"low"},)" + more +
      R"("rules":[)" + rule + "]}}";
  return FlowSchema(meta::Object(meta::json::parse(text).as_object()));
}

struct Case {
  const char* name;
  const char* rule;
  const char* method;
  const char* path;
  bool want;
};
const std::string kAnyone = R"("subjects":[{"kind":"Group","group":{"name":"*"}}])";
const Case kCases[] = {
    {"AllResources",
     R"("resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}])",
     "GET", "/api/v1/namespaces/a/pods", true},
    {"OtherVerb", R"("resourceRules":[{"verbs":["get"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}])",
     "GET", "/api/v1/namespaces/a/pods", false},
    {"OtherGroup", R"("resourceRules":[{"verbs":["*"],"apiGroups":["apps"],"resources":["*"],"namespaces":["*"]}])",
     "GET", "/api/v1/namespaces/a/pods", false},
    {"Subresource", R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["pods/log"],"namespaces":["*"]}])",
     "GET", "/api/v1/namespaces/a/pods/b/log", true},
    {"SubresourceIsNotTheResource",
     R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}])", "GET",
     "/api/v1/namespaces/a/pods/b/log", false},
    {"ClusterScopeIsAsked",
     R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["nodes"],"namespaces":["*"]}])", "GET",
     "/api/v1/nodes", false},
    {"ClusterScope", R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["nodes"],"clusterScope":true}])",
     "GET", "/api/v1/nodes", true},
    {"OtherNamespace", R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["pods"],"namespaces":["b"]}])",
     "GET", "/api/v1/namespaces/a/pods", false},
    {"Path", R"("nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/healthz"]}])", "GET", "/healthz", true},
    {"PathBelow", R"("nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/healthz"]}])", "GET", "/healthz/etcd",
     true},
    {"PathWithStar", R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/healthz/*"]}])", "GET", "/healthz/etcd",
     true},
    {"LongerName", R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/healthz"]}])", "GET", "/healthzz", false},
    {"PathRuleAndResource", R"("nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}])", "GET", "/api/v1/nodes",
     false},
};
class FlowSchemaMatches : public ::testing::TestWithParam<Case> {};

TEST_P(FlowSchemaMatches, Request) {
  const FlowSchema schema = Schema("{" + kAnyone + "," + GetParam().rule + "}");
  EXPECT_EQ(schema.Matches(meta::ParseRequestInfo(GetParam().method, GetParam().path, ""), {}), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, FlowSchemaMatches, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

struct SubjectCase {
  const char* name;
  const char* subject;
  meta::UserInfo user;
  bool want;
};
const SubjectCase kSubjects[] = {
    {"User", R"({"kind":"User","user":{"name":"a"}})", {.name = "a"}, true},
    {"OtherUser", R"({"kind":"User","user":{"name":"a"}})", {.name = "b"}, false},
    {"AnyUser", R"({"kind":"User","user":{"name":"*"}})", {.name = "b"}, true},
    {"Group", R"({"kind":"Group","group":{"name":"g"}})", {.name = "a", .groups = {"f", "g"}}, true},
    {"OtherGroup", R"({"kind":"Group","group":{"name":"g"}})", {.name = "g"}, false},
    {"Account",
     R"({"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"s"}})",
     {.name = "system:serviceaccount:n:s"},
     true},
    {"AnyAccount",
     R"({"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"*"}})",
     {.name = "system:serviceaccount:n:s"},
     true},
    {"OtherNamespace",
     R"({"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"*"}})",
     {.name = "system:serviceaccount:nn:s"},
     false},
    {"NoAccount", R"({"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"s"}})", {.name = "n:s"}, false},
};
class FlowSchemaSubjects : public ::testing::TestWithParam<SubjectCase> {};

TEST_P(FlowSchemaSubjects, User) {
  const FlowSchema schema = Schema(std::string(R"({"subjects":[)") + GetParam().subject +
                                   R"(],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]})");
  EXPECT_EQ(schema.Matches(meta::ParseRequestInfo("GET", "/version", ""), GetParam().user), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, FlowSchemaSubjects, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FlowSchema, DistinguishesFlows) {
  const meta::RequestInfo info = meta::ParseRequestInfo("GET", "/api/v1/namespaces/n/pods", "");
  const meta::UserInfo user{.name = "a"};
  EXPECT_EQ(Schema("", R"("distinguisherMethod":{"type":"ByUser"},)").Distinguisher(info, user), "a");
  EXPECT_EQ(Schema("", R"("distinguisherMethod":{"type":"ByNamespace"},)").Distinguisher(info, user), "n");
  EXPECT_EQ(Schema("").Distinguisher(info, user), "");
  EXPECT_NE(Schema("").FlowHash("a"), Schema("").FlowHash("b"));
}

}  // namespace
}  // namespace apimesh::aggregator
