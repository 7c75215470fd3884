#include "services/object-check/check_object.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

namespace apimesh::object_check {
namespace {

namespace json = boost::json;

Definitions SomeDefinitions() {
  Definitions definitions;
  EXPECT_TRUE(definitions.Add(
      R"({"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1"},{"name":"v2"}]}})"));
  EXPECT_TRUE(definitions.Add(
      R"({"apiVersion":"apiextensions.k8s.io/v1beta1","spec":{"group":"old.example.com","version":"v1alpha1","scope":"Cluster","names":{"plural":"gears","kind":"Gear"}}})"));
  return definitions;
}

/// Returns the problem of an object and the message, as "problem: message"; "" if there is none.
std::string ProblemOf(std::string_view path, std::string_view value) {
  Report report;
  CheckObject(Locate(path, SomeDefinitions()), path, value, report);
  const json::object document = report.ToJson();
  const json::array& problems = document.at("problems").as_array();
  if (problems.empty()) return "";
  EXPECT_EQ(problems.size(), 1u);
  return json::value_to<std::string>(problems.at(0).at("problem")) + ": " +
         json::value_to<std::string>(problems.at(0).at("examples").at(0).at("message"));
}

std::string Protobuf(const char* text) {
  const json::value value = json::parse(text);
  const meta::Object object(value.as_object());
  return codec::WriteProtobuf(object.Root(), *schema::Builtin().FindKind(object.GetGvk()));
}

TEST(Locate, FindsTheResourceOfAKey) {
  const Definitions definitions = SomeDefinitions();
  const auto resource = [&](std::string_view path) { return Locate(path, definitions).resource.ToString(); };
  EXPECT_EQ(resource("configmaps/default/a"), "configmaps");
  EXPECT_EQ(resource("services/specs/default/a"), "services");
  EXPECT_EQ(resource("services/endpoints/default/a"), "endpoints");
  EXPECT_EQ(resource("minions/a"), "nodes");
  EXPECT_EQ(resource("events/default/a"), "events");
  EXPECT_EQ(resource("deployments/default/a"), "deployments.apps");
  EXPECT_EQ(resource("apiregistration.k8s.io/apiservices/v1."), "apiservices.apiregistration.k8s.io");
  EXPECT_EQ(resource("example.com/widgets/default/a"), "widgets.example.com");
  EXPECT_EQ(resource("example.com/unknown/default/a"), "unknown.example.com");
  EXPECT_EQ(resource("podsecuritypolicy/a"), "podsecuritypolicy");
  EXPECT_TRUE(Locate("ranges/serviceips", definitions).internal);
  EXPECT_FALSE(Locate("configmaps/default/a", definitions).internal);
}

TEST(CheckObject, AcceptsWhatTheServersRead) {
  const char* const config_map =
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"},"data":{"k":"v"}})";
  EXPECT_EQ(ProblemOf("configmaps/default/a", config_map), "");
  EXPECT_EQ(ProblemOf("configmaps/default/a", Protobuf(config_map)), "");
  EXPECT_EQ(ProblemOf("example.com/widgets/default/a",
                      R"({"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"a"}})"),
            "");
  EXPECT_EQ(ProblemOf("old.example.com/gears/a",
                      R"({"apiVersion":"old.example.com/v1alpha1","kind":"Gear","metadata":{"name":"a"}})"),
            "");
}

TEST(CheckObject, ReportsWhatCannotBeRead) {
  EXPECT_THAT(ProblemOf("configmaps/default/a", "{"), ::testing::StartsWith("unreadable: "));
  EXPECT_THAT(ProblemOf("configmaps/default/a", "[]"),
              ::testing::StartsWith("unreadable: the value is not a JSON object"));
  EXPECT_THAT(ProblemOf("configmaps/default/a", R"({"kind":"ConfigMap","apiVersion":"v1","data":7})"),
              ::testing::StartsWith("unreadable: "));
  EXPECT_THAT(ProblemOf("configmaps/default/a", R"({"kind":"Pod","apiVersion":"v1"})"),
              "unreadable: the kind is /v1, Kind=Pod, and keys with this prefix are for ConfigMap");
  const std::string whole =
      Protobuf(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_THAT(ProblemOf("configmaps/default/a", whole.substr(0, whole.size() - 3)),
              ::testing::StartsWith("unreadable: "));
  EXPECT_EQ(ProblemOf("example.com/widgets/default/a", R"({"apiVersion":"example.com/v3","kind":"Widget"})"),
            "unreadable: is stored as v3, which its definition does not have");
}

TEST(CheckObject, ReportsWhatIsNotServed) {
  EXPECT_EQ(ProblemOf("podsecuritypolicy/a", R"({"apiVersion":"policy/v1beta1","kind":"PodSecurityPolicy"})"),
            "notServed: policy/v1beta1, Kind=PodSecurityPolicy: this version of Kubernetes has no such resource");
  EXPECT_EQ(ProblemOf("example.com/gone/default/a", R"({"apiVersion":"example.com/v1","kind":"Gone"})"),
            "notServed: example.com/v1, Kind=Gone: there is no CustomResourceDefinition gone.example.com");
  EXPECT_EQ(ProblemOf("configmaps/a", R"({"kind":"ConfigMap","apiVersion":"v1"})"),
            "notServed: the key is not that of a namespaced object");
  EXPECT_THAT(ProblemOf("workloads/default/a", R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload"})"),
              ::testing::StartsWith("offByDefault: is served with --runtime-config=scheduling.k8s.io/v1alpha2=true"));
}

TEST(CheckObject, ReportsFieldsThatWouldBeLost) {
  EXPECT_EQ(ProblemOf("configmaps/default/a", R"({"kind":"ConfigMap","apiVersion":"v1","newField":1})"),
            R"(losesFields: unknown field "newField")");
  EXPECT_EQ(
      ProblemOf(
          "horizontalpodautoscalers/default/a",
          R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"D","name":"d"},"targetCPUUtilizationPercentage":50}})"),
      "losesFields: is stored as autoscaling/v1 and read as autoscaling/v2, which has other fields");
  EXPECT_THAT(
      ProblemOf("flowschemas/a", R"({"kind":"FlowSchema","apiVersion":"flowcontrol.apiserver.k8s.io/v1beta1"})"),
      ::testing::HasSubstr("which this version of Kubernetes does not have"));
  EXPECT_EQ(
      ProblemOf(
          "mutatingadmissionpolicies/a",
          R"({"kind":"MutatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1alpha1","metadata":{"name":"a"}})"),
      "")
      << "the versions have the same fields";
}

TEST(Report, KeepsAFewExamples) {
  Report report;
  for (int i = 0; i < 100; ++i)
    report.Add(Problem::kUnreadable, "secrets", "secrets/default/" + std::to_string(i), "why");
  EXPECT_EQ(report.Affected(Problem::kUnreadable), 100u);
  EXPECT_EQ(report.ToJson().at("problems").at(0).at("examples").as_array().size(), Report::kMaxExamples);
}

TEST(StoredResources, CoverTheTable) {
  EXPECT_GT(StoredResources().size(), 60u);
  for (const StoredResource& stored : StoredResources()) {
    EXPECT_NE(schema::Builtin().FindKind(stored.stored_kind), nullptr) << stored.prefix;
    EXPECT_FALSE(stored.resource.resource.empty()) << stored.prefix;
  }
}

}  // namespace
}  // namespace apimesh::object_check
