#include <algorithm>

#include "lib/admission/matching/matcher.h"
#include "lib/admission/matching/rule_index.h"
#include "lib/admission/matching/testing_versions.h"
#include "lib/admission/matching/versioned_objects.h"
#include "lib/admission/testing_cluster.h"

namespace apimesh::admission::matching {
namespace {

const meta::Gvr kDeployments{"apps", "v1", "deployments"};
const meta::Gvk kDeployment{"apps", "v1", "Deployment"};

Attributes Request(Operation operation = Operation::kCreate) {
  Attributes attributes;
  attributes.operation = operation;
  attributes.resource = kDeployments;
  attributes.kind = kDeployment;
  attributes.ns = "ns";
  attributes.name = "web";
  return attributes;
}

const FakeVersions& TwoGroups() {
  static const FakeVersions versions({{kDeployments, kDeployment},
                                      {{"apps", "v1beta1", "deployments"}, {"apps", "v1beta1", "Deployment"}},
                                      {{"extensions", "v1", "deployments"}, {"extensions", "v1", "Deployment"}}});
  return versions;
}

// --- rules

struct RuleCase {
  std::string test;
  std::string rule;
  bool matches;
  std::string subresource = "";
  std::string ns = "ns";
  Operation operation = Operation::kCreate;
};

const RuleCase kRules[] = {
    {"Exact", R"({"operations":["CREATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments"]})",
     true},
    {"Wildcards", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", true},
    {"OtherOperation", R"({"operations":["UPDATE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", false},
    {"UnknownOperation", R"({"operations":["create"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})", false},
    {"SecondOperation", R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     true, "", "ns", Operation::kDelete},
    {"Connect", R"({"operations":["CONNECT"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/exec"]})", true,
     "exec", "ns", Operation::kConnect},
    {"OtherGroup", R"({"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["*"]})", false},
    {"NoGroup", R"({"operations":["*"],"apiVersions":["*"],"resources":["*"]})", false},
    {"OtherVersion", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v2"],"resources":["*"]})", false},
    {"OtherResource", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["pods"]})", false},
    {"ResourceIsNotItsSubresource",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["deployments"]})", false, "scale"},
    {"AnyResourceIsNoSubresource", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     false, "scale"},
    {"AnySubresource", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["deployments/*"]})",
     true, "scale"},
    {"AnySubresourceIncludesNone",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["deployments/*"]})", true},
    {"OneSubresource",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["deployments/scale"]})", true, "scale"},
    {"OtherSubresource",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["deployments/status"]})", false,
     "scale"},
    {"SubresourceOfAny", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/scale"]})", true,
     "scale"},
    {"Everything", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]})", true, "scale"},
    {"ScopeAll", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"*"})", true},
    {"ScopeNamespaced",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})", true},
    {"ScopeCluster",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})", false},
    {"ScopeClusterWithoutNamespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})", true, "", ""},
    {"ScopeNamespacedWithoutNamespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})", false, "",
     ""},
    {"UnknownScope", R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Pod"})",
     false},
    {"Name",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["a","web"]})",
     true},
    {"OtherName",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["a"]})", false},
};

TEST(Rule, SelectsRequests) {
  for (const RuleCase& test : kRules) {
    Attributes attributes = Request(test.operation);
    attributes.subresource = test.subresource;
    attributes.ns = test.ns;
    const Rule rule(boost::json::parse(test.rule).as_object());
    EXPECT_EQ(rule.Matches(attributes, attributes.resource), test.matches) << test.test;
  }
}

TEST(Rule, NamespaceObjectsAreClusterScoped) {
  Attributes attributes = Request();
  attributes.resource = {"", "v1", "namespaces"};
  attributes.kind = {"", "v1", "Namespace"};
  const auto matches = [&](const char* scope) {
    const std::string text = R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":")";
    return Rule(boost::json::parse(text + scope + "\"}").as_object()).Matches(attributes, attributes.resource);
  };
  EXPECT_TRUE(matches("Cluster"));
  EXPECT_FALSE(matches("Namespaced"));
}

// --- equivalent resources

Criteria Webhook(const std::string& text) { return Criteria::OfWebhook(boost::json::parse(text).as_object()); }

std::string ForResource(const char* group, const char* version, const char* policy) {
  return fmt::format(
      R"({{"matchPolicy":"{}","rules":[{{"operations":["*"],"apiGroups":["{}"],"apiVersions":["{}"],"resources":["deployments"]}}]}})",
      policy, group, version);
}

TEST(Criteria, MatchesOtherVersionsOnlyIfEquivalent) {
  Attributes attributes = Request();
  attributes.versions = &TwoGroups();
  EXPECT_FALSE(Webhook(ForResource("extensions", "v1", "Exact")).MatchRules(attributes));
  const std::optional<Match> found = Webhook(ForResource("extensions", "v1", "Equivalent")).MatchRules(attributes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->resource, (meta::Gvr{"extensions", "v1", "deployments"}));
  EXPECT_EQ(found->kind, (meta::Gvk{"extensions", "v1", "Deployment"}));
  // The requested version is preferred.
  EXPECT_EQ(Webhook(ForResource("*", "*", "Equivalent")).MatchRules(attributes)->resource, kDeployments);
  EXPECT_FALSE(Webhook(ForResource("batch", "v1", "Equivalent")).MatchRules(attributes));
  attributes.versions = nullptr;
  EXPECT_FALSE(Webhook(ForResource("extensions", "v1", "Equivalent")).MatchRules(attributes));
}

TEST(Criteria, WithoutRules) {
  const Attributes attributes = Request();
  EXPECT_FALSE(Criteria::OfWebhook({}).MatchRules(attributes));
  EXPECT_EQ(Criteria::OfPolicy({}).MatchRules(attributes), (Match{kDeployments, kDeployment}));
}

TEST(Criteria, ExcludesResources) {
  Attributes attributes = Request();
  attributes.versions = &TwoGroups();
  const std::string excluded = R"({"matchPolicy":"Equivalent","excludeResourceRules":[{"operations":["*"],)"
                               R"("apiGroups":["extensions"],"apiVersions":["*"],"resources":["*"]}]})";
  EXPECT_FALSE(Criteria::OfPolicy(boost::json::parse(excluded).as_object()).MatchRules(attributes));
  attributes.versions = nullptr;
  EXPECT_TRUE(Criteria::OfPolicy(boost::json::parse(excluded).as_object()).MatchRules(attributes));
}

TEST(Criteria, ConfigurationsOfAdmissionAreExempt) {
  Attributes attributes = Request();
  attributes.kind = {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding"};
  EXPECT_TRUE(IsAdmissionConfiguration(attributes));
  attributes.kind.group = "example.com";
  EXPECT_FALSE(IsAdmissionConfiguration(attributes));
}

// --- selectors

constexpr const char* kAny =
    R"("rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}])";

struct SelectorCase {
  std::string test;
  std::string selectors;  // added to a webhook that matches all requests
  std::string want;       // "yes", "no", or code and message of the error
  std::string ns = "ns";
  std::string object = R"({"metadata":{"labels":{"app":"web"}}})";
  std::string old_object = "";
};

const SelectorCase kSelectors[] = {
    {"None", "", "yes"},
    {"Empty", R"(,"namespaceSelector":{},"objectSelector":{})", "yes"},
    {"Namespace", R"(,"namespaceSelector":{"matchLabels":{"team":"a"}})", "yes"},
    {"OtherNamespace", R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})", "no"},
    {"MissingNamespace", R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})", R"(404 namespaces "gone" not found)",
     "gone"},
    {"NoNamespace", R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})", "yes", ""},
    {"Object", R"(,"objectSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]})", "yes"},
    {"OtherObject", R"(,"objectSelector":{"matchLabels":{"app":"db"}})", "no"},
    {"OldObject", R"(,"objectSelector":{"matchLabels":{"app":"db"}})", "yes", "ns", "{}",
     R"({"metadata":{"labels":{"app":"db"}}})"},
    {"NoObject", R"(,"objectSelector":{"matchLabels":{"app":"db"}})", "no", "ns", ""},
    {"ObjectBeforeMissingNamespace",
     R"(,"objectSelector":{"matchLabels":{"app":"db"}},"namespaceSelector":{"matchLabels":{"team":"b"}})", "no",
     "gone"},
};

TEST(Matcher, AppliesSelectors) {
  TestCluster cluster;
  cluster.Put({"", "namespaces"}, "ns", R"({"kind":"Namespace","metadata":{"name":"ns","labels":{"team":"a"}}})");
  const Matcher matcher(cluster.Inputs().objects);
  for (const SelectorCase& test : kSelectors) {
    const Criteria criteria = Webhook(fmt::format("{{{}{}}}", kAny, test.selectors));
    std::optional<meta::Object> object, old_object;
    if (!test.object.empty()) object = Parse(test.object);
    if (!test.old_object.empty()) old_object = Parse(test.old_object);
    Attributes attributes = Request();
    attributes.ns = test.ns;
    attributes.object = object ? &*object : nullptr;
    attributes.old_object = old_object ? &*old_object : nullptr;
    const auto found = testing::RunTask(matcher.Match({}, criteria, attributes));
    const std::string got = !found ? fmt::format("{} {}", found.error().Code(), found.error().Message())
                                   : std::string(*found ? "yes" : "no");
    EXPECT_EQ(got, test.want) << test.test;
  }
}

TEST(Matcher, NewNamespacesHaveTheLabelsOfTheRequest) {
  TestCluster cluster;
  const Matcher matcher(cluster.Inputs().objects);
  const Criteria criteria = Webhook(fmt::format(R"({{{},"namespaceSelector":{{"matchLabels":{{"a":"b"}}}}}})", kAny));
  meta::Object object = Parse(R"({"metadata":{"name":"new","labels":{"a":"b"}}})");
  Attributes attributes = Request();
  attributes.resource = {"", "v1", "namespaces"};
  attributes.ns = attributes.name = "new";
  attributes.object = &object;
  EXPECT_TRUE(testing::RunTask(matcher.Match({}, criteria, attributes))->has_value());
}

TEST(Matcher, FailsWithoutNamespaces) {
  const Matcher matcher(nullptr);
  const Criteria criteria = Webhook(fmt::format(R"({{{},"namespaceSelector":{{"matchLabels":{{"a":"b"}}}}}})", kAny));
  EXPECT_EQ(testing::RunTask(matcher.Match({}, criteria, Request())).error().Code(), 500);
}

// --- index

class RuleIndexTest : public ::testing::Test {
 protected:
  void Index(const std::vector<std::string>& webhooks) {
    for (RuleIndex::Item i = 0; i < webhooks.size(); ++i) index.Add(i, Webhook(webhooks[i]));
  }
  std::vector<RuleIndex::Item> Find() {
    RequestLabels labels(attributes);
    if (namespace_labels) labels.SetNamespace(*namespace_labels);
    return index.Candidates(attributes, labels);
  }

  RuleIndex index;
  Attributes attributes = Request();
  std::optional<meta::Labels> namespace_labels;
};

TEST_F(RuleIndexTest, FindsAllCriteriaThatMatch) {
  // Each criteria that matches must be among the candidates.
  Index({ForResource("apps", "v1", "Exact"), ForResource("extensions", "v1", "Equivalent"),
         ForResource("batch", "v1", "Exact"), ForResource("*", "*", "Exact"), fmt::format("{{{}}}", kAny), "{}"});
  attributes.versions = &TwoGroups();
  EXPECT_THAT(Find(), ::testing::ElementsAre(0, 1, 3, 4));
  EXPECT_TRUE(index.Any(attributes));
  attributes.versions = nullptr;
  EXPECT_THAT(Find(), ::testing::ElementsAre(0, 3, 4));
}

TEST_F(RuleIndexTest, FindsNothingForOtherResources) {
  Index({ForResource("batch", "v1", "Exact")});
  EXPECT_FALSE(index.Any(attributes));
  EXPECT_THAT(Find(), ::testing::IsEmpty());
  index.Add(1, Criteria::OfPolicy({}));
  EXPECT_THAT(Find(), ::testing::ElementsAre(1));
}

TEST_F(RuleIndexTest, FindsNothingForOtherOperationsScopesAndSubresources) {
  const auto rule = [](std::string_view operation, std::string_view scope, std::string_view resource) {
    return fmt::format(
        R"({{"rules":[{{"operations":["{}"],"apiGroups":["*"],"apiVersions":["*"],"resources":["{}"],"scope":"{}"}}]}})",
        operation, resource, scope);
  };
  Index({rule("CREATE", "*", "*"), rule("DELETE", "*", "*"), rule("*", "Cluster", "*"), rule("*", "Namespaced", "*/*"),
         rule("*", "*", "*/scale"), rule("*", "*", "deployments/scale")});
  EXPECT_THAT(Find(), ::testing::ElementsAre(0, 3));
  attributes.subresource = "scale";
  EXPECT_THAT(Find(), ::testing::ElementsAre(3, 4, 5));
  attributes.operation = Operation::kDelete;
  attributes.subresource.clear();
  EXPECT_THAT(Find(), ::testing::ElementsAre(1, 3));
  attributes.ns.clear();
  EXPECT_THAT(Find(), ::testing::ElementsAre(1, 2));
}

// What the index finds and then matches is what each criteria matches alone, for all kinds of selectors and labels.
TEST_F(RuleIndexTest, FindsWhatSelectorsDoNotExclude) {
  const std::vector<std::string> selectors = {
      "{}",
      R"({"matchLabels":{"a":"1"}})",
      R"({"matchLabels":{"a":"1","b":"2"}})",
      R"({"matchExpressions":[{"key":"a","operator":"In","values":["1","3"]}]})",
      R"({"matchExpressions":[{"key":"b","operator":"Exists"},{"key":"a","operator":"NotIn","values":["3"]}]})",
      R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["1"]}]})",
      R"({"matchExpressions":[{"key":"b","operator":"DoesNotExist"}]})"};
  std::vector<Criteria> all;
  for (const std::string& of_namespace : selectors) {
    for (const std::string& of_object : selectors) {
      all.push_back(
          Webhook(fmt::format(R"({{{},"namespaceSelector":{},"objectSelector":{}}})", kAny, of_namespace, of_object)));
      index.Add(static_cast<RuleIndex::Item>(all.size() - 1), all.back());
    }
  }
  all.push_back(Webhook(
      fmt::format(R"({{{},"objectSelector":{{"matchExpressions":[{{"key":"a","operator":"Wrong"}}]}}}})", kAny)));
  index.Add(static_cast<RuleIndex::Item>(all.size() - 1), all.back());
  const auto object_with = [](std::string_view labels) {
    return Parse(fmt::format(R"({{"metadata":{{"labels":{}}}}})", labels));
  };
  const char* const kLabels[] = {"{}", R"({"a":"1"})", R"({"a":"3","b":"2"})", R"({"a":"1","b":"2"})", R"({"b":"x"})"};
  std::size_t found_count = 0, wanted_count = 0;
  for (const char* object : kLabels) {
    for (const char* old_object : kLabels) {
      for (const char* ns : kLabels) {
        meta::Object now = object_with(object);
        const meta::Object old = object_with(old_object);
        attributes.object = &now;
        attributes.old_object = old_object == kLabels[0] ? nullptr : &old;
        for (const bool clusterwide : {false, true}) {
          attributes.ns = clusterwide ? "" : "ns";
          namespace_labels = LabelsOf(object_with(ns));
          RequestLabels labels(attributes);
          labels.SetNamespace(*namespace_labels);
          std::vector<RuleIndex::Item> wanted;
          for (RuleIndex::Item i = 0; i < all.size(); ++i) {
            const auto match = Matcher::MatchNow(all[i], attributes, labels);
            ASSERT_TRUE(match);
            if (!*match || **match) wanted.push_back(i);
          }
          const std::vector<RuleIndex::Item> found = Find();
          found_count += found.size();
          wanted_count += wanted.size();
          EXPECT_TRUE(std::includes(found.begin(), found.end(), wanted.begin(), wanted.end()))
              << object << old_object << ns << clusterwide;
          namespace_labels.reset();
          const std::vector<RuleIndex::Item> unknown = Find();
          EXPECT_TRUE(std::includes(unknown.begin(), unknown.end(), wanted.begin(), wanted.end()));
        }
      }
    }
  }
  EXPECT_LT(found_count, 2 * wanted_count) << "labels must exclude most of what does not match";
}

TEST_F(RuleIndexTest, NeedsTheNamespaceOnlyForNamespaceSelectors) {
  RequestLabels labels(attributes);
  Index({fmt::format(R"({{{},"objectSelector":{{"matchLabels":{{"a":"1"}}}}}})", kAny)});
  EXPECT_FALSE(index.NeedsNamespace(attributes, labels));
  index.Add(1, Webhook(fmt::format(R"({{{},"namespaceSelector":{{"matchLabels":{{"a":"1"}}}}}})", kAny)));
  EXPECT_TRUE(index.NeedsNamespace(attributes, labels));
  labels.SetNamespace({});
  EXPECT_FALSE(index.NeedsNamespace(attributes, labels));
}

// --- conversion

TEST(VersionedObjects, ConvertsEachKindOnce) {
  meta::Object object = Parse(R"({"apiVersion":"apps/v1","kind":"Deployment"})");
  const meta::Object old = object;
  const FakeVersions versions;
  Attributes attributes = Request();
  attributes.versions = &versions;
  attributes.object = &object;
  attributes.old_object = &old;
  VersionedObjects objects(attributes);
  EXPECT_EQ(testing::RunTask(objects.In({}, kDeployment))->object, &object);
  const meta::Gvk other{"extensions", "v1", "Deployment"};
  for (int i = 0; i < 2; ++i) {
    const auto pair = testing::RunTask(objects.In({}, other));
    ASSERT_TRUE(pair);
    EXPECT_EQ(pair->object->ApiVersion(), "extensions/v1");
    EXPECT_EQ(pair->old_object->ApiVersion(), "extensions/v1");
  }
  EXPECT_EQ(versions.conversions, 2);
  objects.Forget();
  (void)testing::RunTask(objects.In({}, other));
  EXPECT_EQ(versions.conversions, 4);
}

TEST(VersionedObjects, FailsIfAConversionFails) {
  meta::Object object = Parse("{}");
  FakeVersions versions;
  versions.fails = true;
  Attributes attributes = Request();
  attributes.object = &object;
  for (const ResourceVersions* known :
       {static_cast<const ResourceVersions*>(&versions), static_cast<const ResourceVersions*>(nullptr)}) {
    attributes.versions = known;
    VersionedObjects objects(attributes);
    EXPECT_FALSE(testing::RunTask(objects.In({}, {"extensions", "v1", "Deployment"})));
  }
}

}  // namespace
}  // namespace apimesh::admission::matching
