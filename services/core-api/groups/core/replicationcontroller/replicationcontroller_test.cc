#include "services/core-api/groups/core/replicationcontroller/replicationcontroller.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/core/podtemplate/podtemplate.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

constexpr const char* kPlain =
    R"({"metadata":{"name":"r"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";

const NamedCase kCases[] = {
    {"Plain", kPlain, {}},
    {"Empty", R"({"spec":{}})", {"spec.selector: Required value", "spec.template: Required value"}},
    {"SelectorThatIsNoLabel",
     R"({"spec":{"selector":{"a":"-"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
     {R"(spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`)"}},
    {"WrongSelector",
     R"({"spec":{"selector":{"a":"x"},"minReadySeconds":-1,"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
     {"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
      R"(spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`)",
      R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always")"}},
};
class ReplicationControllerCreate : public ::testing::TestWithParam<NamedCase> {};

TEST_P(ReplicationControllerCreate, Complains) {
  EXPECT_EQ(CreateErrors(ReplicationControllerResource({}), GetParam().json), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, ReplicationControllerCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ReplicationController, TakesSelectorAndLabelsFromTheTemplate) {
  const meta::Object object = Defaulted(ReplicationControllerResource({}), kPlain);
  EXPECT_EQ(JsonAt(object, "spec", "selector"), R"({"a":"b"})");
  EXPECT_EQ(JsonAt(object, "metadata", "labels"), R"({"a":"b"})");
  EXPECT_TRUE(ReplicationControllerResource({}).strategy->OrphansByDefault());
}

TEST(ReplicationController, Row) {
  EXPECT_EQ(Row(ReplicationControllerResource({}), kPlain), R"(["r",0,0,0,"<unknown>","c","i","<none>"])");
}

TEST(PodTemplate, IsDefaultedAndValidated) {
  const registry::Resource resource = PodTemplateResource({});
  constexpr const char* kTemplate =
      R"({"metadata":{"name":"t"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}})";
  EXPECT_TRUE(CreateErrors(resource, kTemplate).empty());
  EXPECT_NE(JsonAt(Defaulted(resource, kTemplate), "template").find("imagePullPolicy"), std::string::npos);
  EXPECT_EQ(CreateErrors(resource, R"({"template":{"spec":{}}})"),
            std::vector<std::string>{"template.spec.containers: Required value"});
  EXPECT_EQ(Row(resource, kTemplate), R"(["t","c","i","a=b"])");
}

}  // namespace
}  // namespace apimesh::core_api
