#include "lib/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Creates(const std::string& tolerations, const std::string& ns, const std::string& more = "") {
  return {.resource = "pods",
          .object = fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"tolerations":[{}]{}}}}})", tolerations, more),
          .ns = ns};
}
std::string Tolerates(const std::string& tolerations) {
  return fmt::format(R"({{"spec":{{"tolerations":[{}]}}}})", tolerations);
}
std::string Conflicts(std::string_view scope) {
  return fmt::format(
      "500 pod tolerations (possibly merged with namespace default tolerations) conflict with its {} whitelist", scope);
}
const std::string kA = R"({"key":"a","operator":"Exists"})", kB = R"({"key":"b","operator":"Exists"})",
                  kC = R"({"key":"c","operator":"Exists"})", kD = R"({"key":"d","operator":"Exists"})";
const std::string kEqual = R"({"key":"a","operator":"Equal","value":"v","effect":"NoSchedule"})";
const std::string kSeconds = R"({"key":"s","operator":"Exists","effect":"NoExecute","tolerationSeconds":60})";
const std::string kLonger = R"({"key":"s","operator":"Exists","effect":"NoExecute","tolerationSeconds":61})";
const std::string kForever = R"({"key":"s","operator":"Exists","effect":"NoExecute"})";
const std::string kMemory = R"({"key":"node.kubernetes.io/memory-pressure","operator":"Exists","effect":"NoSchedule"})";
const char kRequests[] = R"(,"containers":[{"resources":{"requests":{"cpu":"1"}}}])";

class TolerationLists : public ::testing::TestWithParam<PluginCase> {};
TEST_P(TolerationLists, AreEnforced) {
  TestCluster cluster;
  const auto put = [&](const std::string& name, const std::string& annotation, const std::string& tolerations) {
    const boost::json::object annotations = {{"scheduler.alpha.kubernetes.io/" + annotation, tolerations}};
    cluster.Put(
        {"", "namespaces"}, name,
        boost::json::serialize(boost::json::object{{"metadata", {{"name", name}, {"annotations", annotations}}}}));
  };
  cluster.Put({"", "namespaces"}, "plain", R"({"metadata":{"name":"plain"}})");
  put("defaults", "defaultTolerations", "[" + kC + "]");
  put("nothing", "defaultTolerations", "");
  put("allows", "tolerationsWhitelist", "[" + kA + "," + kD + "," + kSeconds + "]");
  put("open", "tolerationsWhitelist", "");
  put("broken", "defaultTolerations", "{}");
  PluginInputs inputs = cluster.Inputs();
  inputs.section = fmt::format(
      R"({{"apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration","default":[{}],"whitelist":[{},{},{},{}]}})",
      kB, kA, kB, kC, kMemory);
  Check(*MakePodTolerationRestriction(inputs), GetParam());
}

const PluginCase kCases[] = {
    {"ClusterDefault", Creates("", "plain"), "", Tolerates(kB)},
    {"MergedWithDefault", Creates(kA, "plain"), "", Tolerates(kA + "," + kB)},
    {"NamespaceDefault", Creates("", "defaults"), "", Tolerates(kC)},
    {"EmptyNamespaceDefault", Creates("", "nothing"), "", Tolerates("")},
    {"IncludedInDefault", Creates(R"({"key":"b","operator":"Equal","value":"v"})", "plain"), "", Tolerates(kB)},
    {"MemoryPressure", Creates("", "nothing", kRequests), "", Tolerates(kMemory)},
    {"WithinWhitelist", Creates(kEqual, "nothing"), "", Tolerates(kEqual)},
    {"OpenNamespace", Creates(kD, "open"), "", Tolerates(kD + "," + kB)},
    {"UpdateWithoutDefaults",
     {.operation = Operation::kUpdate, .resource = "pods", .object = Tolerates(kA), .old_object = "{}", .ns = "plain"},
     "",
     Tolerates(kA)},
    {"Status",
     {.operation = Operation::kUpdate, .resource = "pods/status", .object = Tolerates(kD), .ns = "plain"},
     ""},
    {"NotInClusterWhitelist", Creates(kD, "plain"), Conflicts("cluster")},
    {"Everything", Creates(R"({"operator":"Exists"})", "plain"), Conflicts("cluster")},
    {"DefaultNotInNamespaceWhitelist", Creates("", "allows"), Conflicts("namespace")},
    {"NotInNamespaceWhitelist", Creates(kC, "allows"), Conflicts("namespace")},
    {"TooLong", Creates(kLonger, "allows"), Conflicts("namespace")},
    {"Forever", Creates(kForever, "allows"), Conflicts("namespace")},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "pods", .object = Tolerates(kD), .old_object = "{}", .ns = "plain"},
     Conflicts("cluster")},
    {"BrokenAnnotation", Creates("", "broken"),
     "500 json: cannot unmarshal object into Go value of type []v1.Toleration"},
    {"MissingNamespace", Creates("", "gone"), R"(404 namespaces "gone" not found)"},
};
INSTANTIATE_TEST_SUITE_P(Table, TolerationLists, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
