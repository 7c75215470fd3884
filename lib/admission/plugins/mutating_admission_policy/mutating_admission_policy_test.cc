#include "lib/admission/plugins/mutating_admission_policy/mutating_admission_policy.h"

#include "lib/admission/chain.h"
#include "lib/admission/matching/testing_versions.h"
#include "lib/admission/policies/testing_objects.h"
#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

using policies::AdmissionResource;

constexpr const char* kSpec =
    R"("failurePolicy":"Fail","reinvocationPolicy":"{}","matchConstraints":{{"resourceRules":)"
    R"([{{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}}]}})";

/// A chain with the plugin and policies for all resources.
class Mutations {
 public:
  void Add(const std::string& name, const std::string& spec, const std::string& reinvocation = "Never") {
    objects_->Set(AdmissionResource("mutatingadmissionpolicies"),
                  fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","generation":1}},"spec":{{{},{}}}}})", name,
                              name, fmt::format(kSpec, reinvocation), spec));
    objects_->Set(AdmissionResource("mutatingadmissionpolicybindings"),
                  fmt::format(R"({{"metadata":{{"name":"{}-binding"}},"spec":{{"policyName":"{}"}}}})", name, name));
  }
  /// Returns the error, or the object after all mutations.
  std::string Run(const std::string& resource, const std::string& json) {
    PluginInputs inputs;
    inputs.objects = objects_;
    std::vector<std::unique_ptr<Plugin>> plugins;
    plugins.push_back(MakeMutatingAdmissionPolicy(inputs));
    const Chain chain(std::move(plugins));
    meta::Object object = Parse(json);
    const matching::FakeVersions versions(
        {{{object.GetGvk().group, object.GetGvk().version, resource}, object.GetGvk()}});
    Attributes attributes;
    attributes.kind = object.GetGvk();
    attributes.resource = {attributes.kind.group, attributes.kind.version, resource};
    attributes.name = "c";
    attributes.object = &object;
    attributes.versions = &versions;
    meta::RequestContext::State state;
    state.deadline = deadline;
    const meta::Result<> result = testing::RunTask(chain.Mutate(meta::RequestContext(state), attributes));
    if (!result)
      return fmt::format("{} {} {}", result.error().Code(), result.error().ReasonText(), result.error().Message());
    return boost::json::serialize(object.Root());
  }

  policies::FakeObjects& Objects() { return *objects_; }

  meta::RequestDeadline deadline;

 private:
  std::shared_ptr<policies::FakeObjects> objects_ = std::make_shared<policies::FakeObjects>();
};

std::string JsonPatch(const std::string& expression) {
  return fmt::format(R"("mutations":[{{"patchType":"JSONPatch","jsonPatch":{{"expression":"{}"}}}}])", expression);
}
std::string Apply(const std::string& expression) {
  return fmt::format(R"("mutations":[{{"patchType":"ApplyConfiguration","applyConfiguration":{{"expression":"{}"}}}}])",
                     expression);
}
std::string Failed(const std::string& why) {
  return "403 Invalid policy 'p' with binding 'p-binding' denied request: " + why;
}

struct MutationCase {
  std::string name, spec, want;
  std::string object = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}})";
  std::string resource = "configmaps";
};
class MutatingPolicy : public ::testing::TestWithParam<MutationCase> {};

TEST_P(MutatingPolicy, MutatesLikeTheReference) {
  Mutations mutations;
  mutations.Add("p", GetParam().spec);
  EXPECT_EQ(mutations.Run(GetParam().resource, GetParam().object), GetParam().want);
}

constexpr const char* kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"},"spec":{"containers":[{"name":"a","image":"x"}]}})";
const MutationCase kCases[] = {
    {"JsonPatchAdds", JsonPatch("[JSONPatch{op: 'add', path: '/data/b', value: object.data.a + '!'}]"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1!"}})"},
    {"JsonPatchOfObject",
     JsonPatch("[JSONPatch{op: 'add', path: '/metadata/labels', value: Object.metadata.labels{x: 'y'}}]"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"y"}},"data":{"a":"1"}})"},
    {"JsonPatchTestFails",
     JsonPatch("[JSONPatch{op: 'test', path: '/data/a', value: '2'}, JSONPatch{op: 'remove', path: '/data'}]"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}})"},
    {"JsonPatchDoesNotApply", JsonPatch("[JSONPatch{op: 'remove', path: '/spec/x'}]"),
     Failed("JSON Patch: remove operation does not apply: doc is missing path: \"/spec/x\": missing value")},
    {"JsonPatchUnknownField", JsonPatch("[JSONPatch{op: 'add', path: '/foo', value: 1}]"),
     "500 InternalError Internal error occurred: strict decoding error: unknown field \"foo\""},
    {"Applies", Apply("Object{metadata: Object.metadata{labels: {'x': 'y'}}, data: {'b': '2'}}"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"y"}},"data":{"a":"1","b":"2"}})"},
    {"AppliesToListMaps",
     Apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', image: 'y'}, "
           "Object.spec.containers{name: 'a', imagePullPolicy: 'Always'}]}}"),
     R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"},"spec":{"containers":[)"
     R"({"name":"b","image":"y"},{"name":"a","image":"x","imagePullPolicy":"Always"}]}})",
     kPod, "pods"},
    {"AtomicListIsRefused",
     Apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', command: ['x']}]}}"),
     Failed("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            ".spec.containers[0].command"),
     kPod, "pods"},
    {"UnknownFieldIsRefused", Apply("Object{spec: Object.spec{foo: 1}}"),
     Failed("error applying patch: failed to convert patch object to typed object: .spec.foo: field not declared in "
            "schema"),
     kPod, "pods"},
    {"WrongTypeNames", Apply("Object{spec: Object.wrong{a: 1}}"),
     Failed("type mismatch: unexpected type name \"Object.wrong\", expected \"Object.spec\", which matches field name "
            "path from root Object type"),
     kPod, "pods"},
    {"EvaluationError", Apply("Object{data: {'b': object.data.x}}"),
     Failed("expression 'Object{data: {'b': object.data.x}}' resulted in error: no such key: x")},
    {"MatchConditionExcludes",
     R"("matchConditions":[{"name":"x","expression":"false"}],)" + Apply("Object{data: {'b': '2'}}"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}})"},
    {"Variables",
     R"("variables":[{"name":"v","expression":"object.data.a"}],)" + Apply("Object{data: {'b': variables.v}}"),
     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1"}})"},
};
INSTANTIATE_TEST_SUITE_P(Table, MutatingPolicy, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(MutatingPolicies, RunInOrderAndAgainIfNeeded) {
  const char* append = "Object{data: {'log': (has(object.data) ? object.data.log : '') + '%'}}";
  for (const auto& [reinvocation, want] : {std::pair("Never", "ab"), std::pair("IfNeeded", "abab")}) {
    Mutations mutations;
    for (const char* name : {"a", "b"}) {
      std::string expression = append;
      expression.replace(expression.find('%'), 1, name);
      mutations.Add(name, Apply(expression), reinvocation);
    }
    EXPECT_EQ(mutations.Run("configmaps", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})"),
              fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{{"log":"{}"}}}})",
                          want));
  }
}

constexpr const char* kMap = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})";
const std::string kAddData = Apply("Object{data: {'a': 'b'}}");

TEST(MutatingPolicies, RequestsAreRejectedWhilePoliciesAreUnknown) {
  const testing::ManualClock clock;
  Mutations mutations;
  mutations.Add("p", kAddData);
  mutations.Objects().synced = false;
  mutations.deadline = meta::RequestDeadline(clock.Steady(), clock);  // the request cannot wait
  EXPECT_EQ(mutations.Run("configmaps", kMap),
            R"(403 Forbidden configmaps "c" is forbidden: not yet ready to handle request)");
}

TEST(MutatingPolicies, RequestsWaitForPolicies) {
  Mutations mutations;
  mutations.Add("p", kAddData);
  mutations.Objects().checks_until_synced = 3;
  EXPECT_EQ(mutations.Run("configmaps", kMap),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"b"}})");
}

}  // namespace
}  // namespace apimesh::admission
