#include "lib/admission/plugins/job_validation/job_validation.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Job(int parallelism, const std::string& group = "", const std::string& uid = "u") {
  return fmt::format(
      R"({{"metadata":{{"name":"j","namespace":"ns","uid":"{}"}},"spec":{{"parallelism":{},"template":{{"spec":{{{}}}}}}}}})",
      uid, parallelism, group.empty() ? "" : fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}})", group));
}
Write Updates(const std::string& object, const std::string& old, const std::string& resource = "jobs.batch") {
  return {.operation = Operation::kUpdate, .resource = resource, .name = "j", .object = object, .old_object = old};
}
std::string Gang(std::string_view name) {
  return fmt::format(
      R"(403 jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled )"
      R"(PodGroup "{}")",
      name);
}

TEST(JobValidation, GangsKeepTheirSize) {
  TestCluster cluster;
  cluster.features = features::FeatureGates(std::vector<std::string>{"GenericWorkload=true"});
  const auto put = [&](const std::string& name, const std::string& owner, const std::string& policy) {
    cluster.Put({"scheduling.k8s.io", "podgroups"}, "ns/" + name,
                fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"{}}},"spec":{{"schedulingPolicy":{{{}}}}}}})",
                            name, owner, policy));
  };
  put("gang", "", R"("gang":{"minCount":2})");
  put("basic", "", R"("basic":{})");
  put("owned", R"(,"ownerReferences":[{"uid":"owner","controller":true}])", R"("gang":{"minCount":2})");
  const std::unique_ptr<Plugin> plugin = MakeJobValidation(cluster.Inputs());
  Check(*plugin, {"SameSize", Updates(Job(1, "gang"), Job(1, "gang")), ""});
  Check(*plugin, {"NoGroup", Updates(Job(2), Job(1)), ""});
  Check(*plugin, {"Basic", Updates(Job(2, "basic"), Job(1, "basic")), ""});
  Check(*plugin, {"MissingGroup", Updates(Job(2, "gone"), Job(1, "gone")), ""});
  Check(*plugin, {"Status", Updates(Job(2, "gang"), Job(1, "gang"), "jobs.batch/status"), ""});
  Check(*plugin, {"Gang", Updates(Job(2, "gang"), Job(1, "gang")), Gang("gang")});
  Check(*plugin, {"OldGroupCounts", Updates(Job(2, "basic"), Job(1, "gang")), Gang("gang")});
  Check(*plugin, {"OwnedGang", Updates(Job(2, "", "owner"), Job(1, "", "owner")), Gang("owned")});
  cluster.Forget({"scheduling.k8s.io", "podgroups"});
  Check(*MakeJobValidation(cluster.Inputs()), {"NotServed", Updates(Job(2), Job(1)), ""});
}

}  // namespace
}  // namespace apimesh::admission
