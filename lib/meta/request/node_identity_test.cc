#include "lib/meta/request/node_identity.h"

#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

struct Case {
  const char* name;
  UserInfo user;
  std::optional<std::string> want;
};
const Case kCases[] = {
    {"Node", {.name = "system:node:n1", .groups = {"a", "system:nodes"}}, "n1"},
    {"NameOfANodeWithoutTheGroup", {.name = "system:node:n1", .groups = {"system:authenticated"}}, std::nullopt},
    {"GroupWithoutTheName", {.name = "alice", .groups = {"system:nodes"}}, std::nullopt},
    {"PrefixWithoutItsColon", {.name = "system:node", .groups = {"system:nodes"}}, std::nullopt},
    {"OtherCase", {.name = "System:node:n1", .groups = {"system:nodes"}}, std::nullopt},
    {"NoName", {.name = "system:node:", .groups = {"system:nodes"}}, ""},
    {"NameWithColons", {.name = "system:node:a:b", .groups = {"system:nodes"}}, "a:b"},
};
class NodeIdentityOf : public ::testing::TestWithParam<Case> {};

TEST_P(NodeIdentityOf, IsFoundByNameAndGroup) { EXPECT_EQ(NodeIdentity(GetParam().user), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, NodeIdentityOf, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::meta
