#include "services/aggregator/audit/audit_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

std::string Policy(const std::string& rest) { return "apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rest; }

std::string ErrorOf(const std::string& text) {
  try {
    AuditPolicy::FromText(text);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

struct Invalid {
  const char* name;
  std::string rest, want;
};
class InvalidPolicy : public ::testing::TestWithParam<Invalid> {};

TEST_P(InvalidPolicy, IsRefusedWithTheMessageOfKubeApiserver) {
  EXPECT_EQ(ErrorOf(Policy(GetParam().rest)), GetParam().want);
}

const Invalid kInvalid[] = {
    {"NoRules", "", "loaded illegal policy with 0 rules"},
    {"NoLevel", "rules: [{verbs: [get]}]", "rules[0].level: Required value"},
    {"UnknownLevel", "rules: [{level: All}]",
     R"(rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse")"},
    {"UnknownStage", "omitStages: [Never]\nrules: [{level: None}]",
     R"(omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic)"},
    {"Url", "rules: [{level: None, nonResourceURLs: [a]}]",
     R"(rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character)"},
    {"Wildcard", "rules: [{level: None, nonResourceURLs: [/a*b]}]",
     R"(rules[0].nonResourceURLs[0]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule)"},
    {"Both", "rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]",
     R"(rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs)"},
    {"NamesOnly", "rules: [{level: None, resources: [{resourceNames: [b]}]}]",
     R"(rules[0].resources.resourceNames: Invalid value: ["b"]: using resourceNames requires at least one resource)"},
    {"Type", "rules: [{level: None, users: a}]",
     "failed decoding: json: cannot unmarshal string into Go struct field PolicyRule.rules.users of type []string"},
    {"Two", "rules: [{level: All}, {}]",
     R"([rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse", )"
     R"(rules[1].level: Required value])"},
};
INSTANTIATE_TEST_SUITE_P(Table, InvalidPolicy, ::testing::ValuesIn(kInvalid),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AuditPolicy, NeedsItsKind) {
  for (const char* text : {"rules: [{level: None}]", "kind: Policy\nrules: [{level: None}]", ""}) {
    EXPECT_EQ(ErrorOf(text), "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy") << text;
  }
  EXPECT_THAT(ErrorOf("garbage"), ::testing::HasSubstr("json: cannot unmarshal string into Go value of type struct"));
  EXPECT_THAT(ErrorOf("apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]"),
              ::testing::HasSubstr(R"(no kind "Policy" is registered for version "audit.k8s.io/v1beta1")"));
  EXPECT_EQ(ErrorOf(Policy("unknown: 1\nrules: [{level: None, more: 2}]")), "");  // only a warning
}

struct Match {
  const char* name;
  std::string rule, method, path;
  bool want;
};
class RuleMatch : public ::testing::TestWithParam<Match> {};

TEST_P(RuleMatch, Decides) {
  const AuditPolicy policy = AuditPolicy::FromText(Policy("rules: [{level: Metadata, " + GetParam().rule + "}]"));
  const meta::UserInfo user{.name = "u", .uid = "", .groups = {"g"}, .extra = {}};
  const meta::RequestInfo info = meta::ParseRequestInfo(GetParam().method, GetParam().path, "");
  EXPECT_EQ(policy.Evaluate(user, info).level == AuditLevel::kMetadata, GetParam().want);
}

constexpr const char* kPod = "/api/v1/namespaces/a/pods/p";
const Match kMatches[] = {
    {"User", "users: [u]", "GET", kPod, true},
    {"OtherUser", "users: [v]", "GET", kPod, false},
    {"Group", "userGroups: [h, g]", "GET", kPod, true},
    {"Verb", "verbs: [get]", "GET", kPod, true},
    {"OtherVerb", "verbs: [create]", "GET", kPod, false},
    {"Namespace", "namespaces: [a]", "GET", kPod, true},
    {"ClusterScoped", "namespaces: ['']", "GET", "/api/v1/nodes/n", true},
    {"NamespaceOfAPath", "namespaces: ['']", "GET", "/version", false},
    {"Resource", "resources: [{resources: [pods]}]", "GET", kPod, true},
    {"ResourceIsNotItsSubresource", "resources: [{resources: [pods]}]", "GET", "/api/v1/namespaces/a/pods/p/log",
     false},
    {"Subresource", "resources: [{resources: [pods/log]}]", "GET", "/api/v1/namespaces/a/pods/p/log", true},
    {"AllSubresources", "resources: [{resources: [pods/*]}]", "GET", "/api/v1/namespaces/a/pods/p/log", true},
    {"AllSubresourcesAndItself", "resources: [{resources: [pods/*]}]", "GET", kPod, true},
    {"SubresourceOfAll", "resources: [{resources: ['*/log']}]", "GET", "/api/v1/namespaces/a/pods/p/log", true},
    {"OtherGroup", "resources: [{group: apps}]", "GET", kPod, false},
    {"AnyGroup", "resources: [{group: '*'}]", "GET", "/apis/apps/v1/deployments", true},
    {"Name", "resources: [{resources: [pods], resourceNames: [p]}]", "GET", kPod, true},
    {"OtherName", "resources: [{resources: [pods], resourceNames: [q]}]", "GET", kPod, false},
    {"Url", "nonResourceURLs: [/healthz*]", "GET", "/healthz/etcd", true},
    {"UrlOfAResource", "nonResourceURLs: ['*']", "GET", kPod, false},
};
INSTANTIATE_TEST_SUITE_P(Table, RuleMatch, ::testing::ValuesIn(kMatches),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AuditPolicy, ARuleOverridesTheDefaultForManagedFields) {
  const AuditPolicy policy =
      AuditPolicy::FromText(Policy("omitManagedFields: true\nomitStages: [Panic]\nrules:\n"
                                   "- {level: Request, verbs: [get], omitManagedFields: false, omitStages: "
                                   "[RequestReceived]}\n- {level: Request}\n"));
  const auto get = policy.Evaluate({}, meta::ParseRequestInfo("GET", kPod, ""));
  const auto put = policy.Evaluate({}, meta::ParseRequestInfo("PUT", kPod, ""));
  EXPECT_FALSE(get.omits_managed_fields);
  EXPECT_TRUE(put.omits_managed_fields);
  EXPECT_TRUE(get.omitted[static_cast<int>(AuditStage::kRequestReceived)]);
  EXPECT_TRUE(get.omitted[static_cast<int>(AuditStage::kPanic)]);
  EXPECT_FALSE(put.omitted[static_cast<int>(AuditStage::kRequestReceived)]);
}

}  // namespace
}  // namespace apimesh::aggregator
