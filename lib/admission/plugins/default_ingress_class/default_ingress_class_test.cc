#include "lib/admission/plugins/default_ingress_class/default_ingress_class.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const meta::GroupResource kClasses{"networking.k8s.io", "ingressclasses"};

Write Creates(const std::string& spec, const std::string& annotations = "") {
  return {
      .resource = "ingresses.networking.k8s.io",
      .object = fmt::format(R"({{"metadata":{{"name":"i","annotations":{{{}}}}},"spec":{{{}}}}})", annotations, spec)};
}

class DefaultIngressClasses : public ::testing::TestWithParam<PluginCase> {
 protected:
  TestCluster cluster_;
};

TEST_P(DefaultIngressClasses, OfIngresses) {
  cluster_.Put(kClasses, "nginx",
               R"({"metadata":{"name":"nginx","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}})");
  cluster_.Put(kClasses, "other",
               R"({"metadata":{"name":"other","annotations":{"ingressclass.kubernetes.io/is-default-class":"yes"}}})");
  Check(*MakeDefaultIngressClass(cluster_.Inputs()), GetParam());
}

const char kNoSpec[] = R"({"spec":null})";
const PluginCase kCases[] = {
    {"NoClass", Creates(""), "", R"({"spec":{"ingressClassName":"nginx"}})"},
    {"OwnClass", Creates(R"("ingressClassName":"other")"), "", R"({"spec":{"ingressClassName":"other"}})"},
    {"EmptyClass", Creates(R"("ingressClassName":"")"), "", R"({"spec":{"ingressClassName":""}})"},
    {"Annotation", Creates("", R"("kubernetes.io/ingress.class":"x")"), "", R"({"spec":{"ingressClassName":null}})"},
    {"OtherAnnotation", Creates("", R"("a":"x")"), "", R"({"spec":{"ingressClassName":"nginx"}})"},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "ingresses.networking.k8s.io", .object = "{}"},
     "",
     kNoSpec},
    {"Status",
     {.operation = Operation::kUpdate, .resource = "ingresses.networking.k8s.io/status", .object = "{}"},
     "",
     kNoSpec},
    {"OtherGroup", {.resource = "ingresses.example.com", .object = "{}"}, "", kNoSpec},
};
INSTANTIATE_TEST_SUITE_P(Table, DefaultIngressClasses, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(DefaultIngressClasses, WithoutADefaultNothingIsSet) {
  Check(*MakeDefaultIngressClass(cluster_.Inputs()),
        {"None", Creates(""), "", R"({"spec":{"ingressClassName":null}})"});
  EXPECT_NE(TestCluster::Run(*MakeDefaultIngressClass({}), Creates("")).error, "");
}

}  // namespace
}  // namespace apimesh::admission
