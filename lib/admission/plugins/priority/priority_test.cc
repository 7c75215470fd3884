#include "lib/admission/plugins/priority/priority.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const meta::GroupResource kClasses{"scheduling.k8s.io", "priorityclasses"};

Write CreatesPod(const std::string& spec) {
  return {.resource = "pods", .object = fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}}}}})", spec)};
}
Write UpdatesPod(const std::string& spec, const std::string& old) {
  return {.operation = Operation::kUpdate,
          .resource = "pods",
          .name = "p",
          .object = fmt::format(R"({{"spec":{{{}}}}})", spec),
          .old_object = fmt::format(R"({{"spec":{{{}}}}})", old)};
}
Write WritesClass(const std::string& name, bool is_default, Operation operation = Operation::kCreate) {
  return {.operation = operation,
          .resource = "priorityclasses.scheduling.k8s.io",
          .name = name,
          .object = fmt::format(R"({{"metadata":{{"name":"{}"}},"value":5,"globalDefault":{}}})", name, is_default),
          .old_object = operation == Operation::kUpdate ? "{}" : "",
          .ns = ""};
}
std::string Differs(int given, int computed) {
  return fmt::format(
      R"(403 pods "p" is forbidden: the integer value of priority ({}) must not be provided in pod spec; priority )"
      "admission controller computed {} from the given PriorityClass name",
      given, computed);
}

class Priorities : public ::testing::TestWithParam<PluginCase> {
 protected:
  Priorities() {
    cluster_.Put(kClasses, "high", R"({"metadata":{"name":"high"},"value":1000,"preemptionPolicy":"Never"})");
    cluster_.Put(kClasses, "plain", R"({"metadata":{"name":"plain"},"value":7})");
  }
  TestCluster cluster_;
};

TEST_P(Priorities, WithoutADefaultClass) { Check(*MakePriority(cluster_.Inputs()), GetParam()); }

const PluginCase kCases[] = {
    {"NoClass", CreatesPod(""), "",
     R"({"spec":{"priority":0,"preemptionPolicy":"PreemptLowerPriority","priorityClassName":null}})"},
    {"NamedClass", CreatesPod(R"("priorityClassName":"high")"), "",
     R"({"spec":{"priority":1000,"preemptionPolicy":"Never","priorityClassName":"high"}})"},
    {"ClassWithoutPolicy", CreatesPod(R"("priorityClassName":"plain")"), "",
     R"({"spec":{"priority":7,"preemptionPolicy":null}})"},
    {"ClassWithoutPolicyKeepsThatOfThePod", CreatesPod(R"("priorityClassName":"plain","preemptionPolicy":"Never")"), "",
     R"({"spec":{"preemptionPolicy":"Never"}})"},
    {"SamePriority", CreatesPod(R"("priorityClassName":"high","priority":1000)"), "", R"({"spec":{"priority":1000}})"},
    {"SamePolicy", CreatesPod(R"("priorityClassName":"high","preemptionPolicy":"Never")"), ""},
    {"UpdateKeepsThePriority", UpdatesPod("", R"("priority":5,"preemptionPolicy":"Never")"), "",
     R"({"spec":{"priority":5,"preemptionPolicy":"Never"}})"},
    {"UpdateLeavesWhatIsGiven", UpdatesPod(R"("priority":6)", R"("priority":5)"), "", R"({"spec":{"priority":6}})"},
    {"FirstDefaultClass", WritesClass("new", true), ""},
    {"ClassThatIsNoDefault", WritesClass("new", false), ""},
    {"MissingClass", CreatesPod(R"("priorityClassName":"gone")"),
     R"(403 pods "p" is forbidden: no PriorityClass with name gone was found)"},
    {"NameThatIsNone", CreatesPod(R"("priorityClassName":"A/b")"),
     R"(403 pods "p" is forbidden: no PriorityClass with name A/b was found)"},
    {"OtherPriority", CreatesPod(R"("priorityClassName":"high","priority":1)"), Differs(1, 1000)},
    {"PriorityWithoutClass", CreatesPod(R"("priority":1)"), Differs(1, 0)},
    {"NegativePriority", CreatesPod(R"("priority":-1)"), Differs(-1, 0)},
    {"OtherPolicy", CreatesPod(R"("priorityClassName":"high","preemptionPolicy":"PreemptLowerPriority")"),
     R"(403 pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in )"
     "pod spec; priority admission controller computed Never from the given PriorityClass name"},
    {"PolicyWithoutClass", CreatesPod(R"("preemptionPolicy":"Never")"),
     R"(403 pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; )"
     "priority admission controller computed PreemptLowerPriority from the given PriorityClass name"},
};
INSTANTIATE_TEST_SUITE_P(Table, Priorities, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(Priorities, TheDefaultClassCounts) {
  cluster_.Put(kClasses, "usual", R"({"metadata":{"name":"usual"},"value":50,"globalDefault":true})");
  const std::unique_ptr<Plugin> plugin = MakePriority(cluster_.Inputs());
  Check(*plugin, {"NoClass", CreatesPod(""), "", R"({"spec":{"priority":50,"priorityClassName":"usual"}})"});
  Check(*plugin, {"OtherPriority", CreatesPod(R"("priority":1)"), Differs(1, 50)});
  const std::string second =
      "403 priorityclasses.scheduling.k8s.io \"new\" is forbidden: PriorityClass usual is already marked as default. "
      "Only one default can exist";
  Check(*plugin, {"CreatesASecond", WritesClass("new", true), second});
  Check(*plugin, {"MarksASecond", WritesClass("new", true, Operation::kUpdate), second});
  Check(*plugin, {"UpdatesTheFirst", WritesClass("usual", true, Operation::kUpdate), ""});
  cluster_.Put(kClasses, "lower", R"({"metadata":{"name":"lower"},"value":3,"globalDefault":true})");
  Check(*plugin, {"TheLowerOfTwo", CreatesPod(""), "", R"({"spec":{"priority":3,"priorityClassName":"lower"}})"});
}

TEST_F(Priorities, RefusesPodsIfClassesCannotBeRead) {
  EXPECT_NE(TestCluster::Run(*MakePriority({}), CreatesPod("")).error, "");
  EXPECT_NE(TestCluster::Run(*MakePriority({}), CreatesPod(R"("priorityClassName":"high")")).error, "");
}

}  // namespace
}  // namespace apimesh::admission
