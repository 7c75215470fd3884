#include "services/core-api/groups/rbac/escalation/policy_rules.h"

#include <gmock/gmock.h>

namespace apimesh::core_api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PolicyRules, WhatIsHeldCovers) {
  struct Case {
    const char* name;
    PolicyRule held, wanted;
    bool covered;
  };
  const Case cases[] = {
      {"the same", {{"get"}, {""}, {"pods"}, {}, {}}, {{"get"}, {""}, {"pods"}, {}, {}}, true},
      {"all verbs", {{"*"}, {""}, {"pods"}, {}, {}}, {{"get", "delete"}, {""}, {"pods"}, {}, {}}, true},
      {"a star is more than any verb", {{"get"}, {""}, {"pods"}, {}, {}}, {{"*"}, {""}, {"pods"}, {}, {}}, false},
      {"another group", {{"get"}, {"apps"}, {"pods"}, {}, {}}, {{"get"}, {""}, {"pods"}, {}, {}}, false},
      {"a subresource of all", {{"get"}, {""}, {"*/log"}, {}, {}}, {{"get"}, {""}, {"pods/log"}, {}, {}}, true},
      {"a name of all names", {{"get"}, {""}, {"pods"}, {}, {}}, {{"get"}, {""}, {"pods"}, {"a"}, {}}, true},
      {"all names of one", {{"get"}, {""}, {"pods"}, {"a"}, {}}, {{"get"}, {""}, {"pods"}, {}, {}}, false},
      {"below a path", {{"get"}, {}, {}, {}, {"/healthz/*"}}, {{"get"}, {}, {}, {}, {"/healthz/etcd"}}, true},
      {"another path", {{"get"}, {}, {}, {}, {"/healthz/*"}}, {{"get"}, {}, {}, {}, {"/metrics"}}, false},
  };
  for (const Case& c : cases) EXPECT_EQ(Uncovered({c.held}, {c.wanted})->empty(), c.covered) << c.name;
}

TEST(PolicyRules, DescribesWhatIsMissing) {
  const std::vector<PolicyRule> missing = *Uncovered({}, {{{"get", "list"}, {"apps"}, {"deployments"}, {}, {}},
                                                          {{"get"}, {}, {}, {}, {"/x"}},
                                                          {{"get"}, {""}, {"pods"}, {"a"}, {}}});
  EXPECT_THAT(Describe(missing),
              ElementsAre(R"({APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]})",
                          R"({APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]})",
                          R"({NonResourceURLs:["/x"], Verbs:["get"]})"));
  EXPECT_THAT(*Uncovered({{{"*"}, {"*"}, {"*"}, {}, {}}}, {{{"get"}, {"apps"}, {"deployments"}, {}, {}}}), IsEmpty());
}

TEST(PolicyRules, TwoHeldRulesTogetherCoverOne) {
  const std::vector<PolicyRule> held = {{{"list", "get"}, {""}, {"pods"}, {}, {}},
                                        {{"watch"}, {""}, {"services", "pods"}, {}, {}}};
  EXPECT_THAT(*Uncovered(held, {{{"watch", "get"}, {""}, {"pods"}, {}, {}}}), IsEmpty());
  EXPECT_EQ(Uncovered(held, {{{"watch", "get"}, {""}, {"services"}, {}, {}}})->size(), 1u);
}

TEST(PolicyRules, LongListsAreNotMultiplied) {
  PolicyRule wide;
  for (int i = 0; i < 20'000; ++i) {
    for (auto* texts : {&wide.verbs, &wide.groups, &wide.resources, &wide.names})
      texts->push_back("t" + std::to_string(i));
  }
  EXPECT_THAT(*Uncovered({wide}, {wide}), IsEmpty()) << "one held rule covers all of it";
  EXPECT_THAT(*Uncovered({{{"*"}, {"*"}, {"*"}, {}, {}}}, {wide}), IsEmpty());
  EXPECT_FALSE(Uncovered({{{"get"}, {""}, {"pods"}, {}, {}}}, {wide})) << "unknown, and therefore refused";
  std::vector<PolicyRule> many(kMaxPieces + 1, PolicyRule{{"get"}, {""}, {"secrets"}, {}, {}});
  EXPECT_FALSE(Uncovered({{{"get"}, {""}, {"pods"}, {}, {}}}, many));
}

}  // namespace
}  // namespace apimesh::core_api
