/// The cost of 500 webhooks for a request that none of them is called for.
#include <benchmark/benchmark.h>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "lib/admission/plugins/validating_admission_webhook/validating_admission_webhook.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"

namespace apimesh::admission {
namespace {

constexpr int kWebhooks = 500;

/// Webhook configurations that never change, and a namespace with two labels.
class FixedObjects final : public Objects {
 public:
  explicit FixedObjects(std::vector<std::string> configurations) : configurations_(std::move(configurations)) {}

  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext, meta::Gvr, std::string, std::string, Read) override {
    co_return namespace_;
  }
  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext, meta::Gvr, std::string, meta::LabelSelector,
                                                  Read) override {
    co_return std::vector<ObjectPtr>();
  }
  std::unique_ptr<Subscription> Subscribe(const meta::Gvr&, std::function<void(const Change&)> changed) override {
    for (const std::string& text : configurations_) changed({Change::Type::kSet, Parse(text)});
    return std::make_unique<Known>();
  }

 private:
  struct Known final : Subscription {
    bool Synced() const override { return true; }
  };
  static ObjectPtr Parse(const std::string& text) {
    return std::make_shared<const meta::Object>(boost::json::parse(text).as_object());
  }
  const std::vector<std::string> configurations_;
  const ObjectPtr namespace_ =
      Parse(R"({"metadata":{"name":"ns","labels":{"kubernetes.io/metadata.name":"ns","team":"a"}}})");
};

/// The plugin with 500 webhooks that have these fields besides their name and address; {} is replaced by a number.
std::unique_ptr<Plugin> MakePlugin(std::string_view fields) {
  std::vector<std::string> configurations;
  for (int i = 0; i < kWebhooks; ++i) {
    std::string numbered(fields);
    for (std::size_t at; (at = numbered.find("{}")) != std::string::npos;) numbered.replace(at, 2, std::to_string(i));
    configurations.push_back(fmt::format(
        R"({{"metadata":{{"name":"c{0}"}},"webhooks":[{{"name":"w{0}.test","clientConfig":{{"url":"https://w{0}.test/"}},)"
        R"("sideEffects":"None","admissionReviewVersions":["v1"],"matchPolicy":"Equivalent",{1}}}]}})",
        i, numbered));
  }
  PluginInputs inputs;
  inputs.objects = std::make_shared<FixedObjects>(std::move(configurations));
  inputs.clock = &testing::SystemClock();
  return MakeValidatingAdmissionWebhook(inputs);
}

/// The creation of a pod.
struct PodCreation {
  PodCreation() {
    attributes.resource = {"", "v1", "pods"};
    attributes.kind = {"", "v1", "Pod"};
    attributes.ns = "ns";
    attributes.name = "p";
    attributes.object = &pod;
  }
  meta::Object pod{boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns",)"
                                      R"("labels":{"app":"web","tier":"backend","version":"7"}},"spec":{}})")
                       .as_object()};
  Attributes attributes;
};

constexpr std::string_view kOfPods =
    R"("rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}])";

/// No rule matches: what every request pays. The rules are for other resources, or for other operations and scopes.
void OtherResources(benchmark::State& state) {
  const std::unique_ptr<Plugin> plugin = MakePlugin(
      R"("rules":[{"operations":["*"],"apiGroups":["group-{}.example.com"],"apiVersions":["v1"],)"
      R"("resources":["widgets","widgets/status"]},{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],)"
      R"("resources":["secrets"]},{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]},)"
      R"({"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"scope":"Cluster"}])");
  const PodCreation creation;
  for (auto _ : state) benchmark::DoNotOptimize(plugin->Handles(Phase::kValidate, creation.attributes));
}
BENCHMARK(OtherResources);

Task<> Repeat(Plugin& plugin, benchmark::State& state) {
  const PodCreation creation;
  const meta::RequestContext ctx;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plugin.Handles(Phase::kValidate, creation.attributes));
    const meta::Result<> result = co_await plugin.Validate(ctx, creation.attributes);
    if (!result) state.SkipWithError("a webhook was called");
  }
}

/// The rules match, and something else excludes the request.
void Excluded(benchmark::State& state, std::string_view by) {
  const std::unique_ptr<Plugin> plugin = MakePlugin(fmt::format("{},{}", kOfPods, by));
  testing::RunTask(Repeat(*plugin, state));
}
BENCHMARK_CAPTURE(Excluded, ByObjectSelector, R"("objectSelector":{"matchLabels":{"inject-{}":"yes"}})");
BENCHMARK_CAPTURE(Excluded, ByNamespaceSelector, R"("namespaceSelector":{"matchLabels":{"inject-{}":"yes"}})");
BENCHMARK_CAPTURE(Excluded, ByEqualSelectors,
                  R"("namespaceSelector":{"matchExpressions":[{"key":"team","operator":"DoesNotExist"}]})");
BENCHMARK_CAPTURE(Excluded, ByDifferentNegativeSelectors,
                  R"("objectSelector":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["web","{}"]}]})");
BENCHMARK_CAPTURE(Excluded, ByEqualMatchConditions,
                  R"("matchConditions":[{"name":"n","expression":"object.metadata.name == 'x'"}])");
BENCHMARK_CAPTURE(Excluded, ByMatchCondition,
                  R"("matchConditions":[{"name":"n","expression":"object.metadata.name == 'x-{}'"}])");

}  // namespace
}  // namespace apimesh::admission

BENCHMARK_MAIN();
