#include "lib/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

constexpr char kNotReady[] = R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
  "tolerationSeconds":300})";
constexpr char kUnreachable[] = R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
  "tolerationSeconds":300})";

Write CreatesWith(const std::string& tolerations) {
  return {.resource = "pods", .object = fmt::format(R"({{"spec":{{"tolerations":[{}]}}}})", tolerations)};
}
std::string Want(const std::string& tolerations) {
  return fmt::format(R"({{"spec":{{"tolerations":[{}]}}}})", tolerations);
}
std::string Before(const std::string& own, const std::string& added) { return Want(own + "," + added); }

const std::string kOther = R"({"key":"a","operator":"Exists"})";
const std::string kOtherEffect = R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";
const std::string kOwnNotReady = R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute","tolerationSeconds":5})";
const std::string kOwnUnreachable = R"({"key":"node.kubernetes.io/unreachable","operator":"Exists"})";
const std::string kEverything = R"({"operator":"Exists"})";
const std::string kAnyNoSchedule = R"({"operator":"Exists","effect":"NoSchedule"})";
const std::string kAnyNoExecute = R"({"operator":"Exists","effect":"NoExecute"})";
const std::string kBoth = std::string(kNotReady) + "," + kUnreachable;

class DefaultTolerations : public ::testing::TestWithParam<PluginCase> {};
TEST_P(DefaultTolerations, OfPods) { Check(*MakeDefaultTolerationSeconds({}), GetParam()); }

const PluginCase kCases[] = {
    {"None", {.resource = "pods", .object = "{}"}, "", Want(kBoth)},
    {"Empty", CreatesWith(""), "", Want(kBoth)},
    {"OtherKey", CreatesWith(kOther), "", Before(kOther, kBoth)},
    {"OtherEffect", CreatesWith(kOtherEffect), "", Before(kOtherEffect, kBoth)},
    {"NotReady", CreatesWith(kOwnNotReady), "", Before(kOwnNotReady, kUnreachable)},
    {"UnreachableWithAnyEffect", CreatesWith(kOwnUnreachable), "", Before(kOwnUnreachable, kNotReady)},
    {"Everything", CreatesWith(kEverything), "", Want(kEverything)},
    {"EverythingNoSchedule", CreatesWith(kAnyNoSchedule), "", Before(kAnyNoSchedule, kBoth)},
    {"EverythingNoExecute", CreatesWith(kAnyNoExecute), "", Want(kAnyNoExecute)},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "pods", .object = "{}", .old_object = "{}"},
     "",
     Want(kBoth)},
    {"Subresource",
     {.operation = Operation::kUpdate, .resource = "pods/status", .object = "{}"},
     "",
     R"({"spec":null})"},
    {"OtherKind", {.resource = "nodes", .object = "{}"}, "", R"({"spec":null})"},
};
INSTANTIATE_TEST_SUITE_P(Table, DefaultTolerations, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(DefaultTolerationSeconds, FlagsSetTheTimes) {
  PluginInputs inputs;
  inputs.tolerations.not_ready_seconds = 10;
  inputs.tolerations.unreachable_seconds = 0;
  const Outcome outcome = TestCluster::Run(*MakeDefaultTolerationSeconds(inputs), CreatesWith(""));
  const meta::json::value& spec = outcome.object.Root().at("spec");
  EXPECT_EQ(spec.at_pointer("/tolerations/0/tolerationSeconds"), 10);
  EXPECT_EQ(spec.at_pointer("/tolerations/1/tolerationSeconds"), 0);
}

}  // namespace
}  // namespace apimesh::admission
