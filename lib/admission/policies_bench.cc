// Measures what admission policies add to a create: a ValidatingAdmissionPolicy with three rules for a Pod, policies
// for other resources, and an ApplyConfiguration.
#include <benchmark/benchmark.h>

#include "lib/admission/matching/testing_versions.h"
#include "lib/admission/plugins/mutating_admission_policy/mutating_admission_policy.h"
#include "lib/admission/plugins/validating_admission_policy/validating_admission_policy.h"
#include "lib/admission/policies/testing_objects.h"
#include "lib/testing/run.h"

namespace apimesh::admission::policies {
namespace {

constexpr const char* kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","labels":{"app":"a","team":"b"}},)"
    R"("spec":{"containers":[{"name":"a","image":"registry.example.com/a:1","resources":{"limits":{"cpu":"1"}}},)"
    R"({"name":"b","image":"registry.example.com/b:2","resources":{"limits":{"cpu":"1"}}}],"restartPolicy":"Always"}})";

std::string Policy(const std::string& name, const std::string& resource, const std::string& spec) {
  return R"({"metadata":{"name":")" + name + R"(","generation":1,"uid":")" + name +
         R"("},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],)"
         R"("resources":[")" +
         resource + R"("]}]},)" + spec + "}}";
}
std::string Binding(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{"policyName":")" + name +
         R"(","validationActions":["Deny"]}})";
}

constexpr const char* kThreeRules = R"json("validations":[
    {"expression":"has(object.metadata.labels) && 'team' in object.metadata.labels"},
    {"expression":"object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))"},
    {"expression":"object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))"}])json";

Task<> Repeat(Plugin& plugin, Phase phase, benchmark::State& state) {
  meta::Object object(boost::json::parse(kPod).as_object());
  const ResourceVersions::Version pods{{"", "v1", "pods"}, {"", "v1", "Pod"}};
  const matching::FakeVersions versions(std::vector<ResourceVersions::Version>{pods});
  Attributes attributes;
  attributes.kind = {"", "v1", "Pod"};
  attributes.resource = {"", "v1", "pods"};
  attributes.ns = "ns";
  attributes.name = "p";
  attributes.object = &object;
  attributes.versions = &versions;
  const meta::RequestContext ctx;
  for (auto _ : state) {
    if (!plugin.Handles(phase, attributes)) continue;
    meta::Result<> result;
    if (phase == Phase::kMutate) {
      result = co_await plugin.Mutate(ctx, attributes);
    } else {
      result = co_await plugin.Validate(ctx, attributes);
    }
    if (!result) state.SkipWithError(result.error().Message().c_str());
  }
}

std::shared_ptr<FakeObjects> Cluster() {
  auto objects = std::make_shared<FakeObjects>();
  objects->Set({"", "v1", "namespaces"}, R"({"metadata":{"name":"ns"}})");
  return objects;
}

void Run(benchmark::State& state, const ObjectsPtr& objects, Phase phase) {
  PluginInputs inputs;
  inputs.objects = objects;
  const std::unique_ptr<Plugin> plugin =
      phase == Phase::kMutate ? MakeMutatingAdmissionPolicy(inputs) : MakeValidatingAdmissionPolicy(inputs);
  boost::asio::io_context context;
  testing::RunTask(context, Repeat(*plugin, phase, state));
}

void ThreeRules(benchmark::State& state) {
  const auto objects = Cluster();
  objects->Set(AdmissionResource("validatingadmissionpolicies"), Policy("p", "pods", kThreeRules));
  objects->Set(AdmissionResource("validatingadmissionpolicybindings"), Binding("p"));
  Run(state, objects, Phase::kValidate);
}
BENCHMARK(ThreeRules);

void PoliciesOfOtherResources(benchmark::State& state) {
  const auto objects = Cluster();
  for (int i = 0; i < 500; ++i) {
    const std::string name = "p" + std::to_string(i);
    objects->Set(AdmissionResource("validatingadmissionpolicies"), Policy(name, "r" + std::to_string(i), kThreeRules));
    objects->Set(AdmissionResource("validatingadmissionpolicybindings"), Binding(name));
  }
  Run(state, objects, Phase::kValidate);
}
BENCHMARK(PoliciesOfOtherResources);

void ApplyConfiguration(benchmark::State& state) {
  const auto objects = Cluster();
  objects->Set(AdmissionResource("mutatingadmissionpolicies"),
               Policy("p", "pods",
                      R"("mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":)"
                      R"("Object{metadata: Object.metadata{labels: {'env': 'test'}}}"}}])"));
  objects->Set(AdmissionResource("mutatingadmissionpolicybindings"), Binding("p"));
  Run(state, objects, Phase::kMutate);
}
BENCHMARK(ApplyConfiguration);

}  // namespace
}  // namespace apimesh::admission::policies

BENCHMARK_MAIN();
