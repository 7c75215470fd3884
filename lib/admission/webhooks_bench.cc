/// The cost of webhooks for a request that none of them matches, with 500 of them.
#include <benchmark/benchmark.h>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "lib/admission/matching/rule_index.h"

namespace apimesh::admission::matching {
namespace {

void NoMatch(benchmark::State& state) {
  RuleIndex index;
  for (RuleIndex::Item i = 0; i < 500; ++i) {
    const std::string webhook = fmt::format(
        R"({{"matchPolicy":"Equivalent","rules":[{{"operations":["*"],"apiGroups":["group-{}.example.com"],)"
        R"("apiVersions":["v1"],"resources":["widgets","widgets/status"]}},{{"operations":["CREATE"],"apiGroups":[""],)"
        R"("apiVersions":["v1"],"resources":["secrets"]}}]}})",
        i);
    index.Add(i, Criteria::OfWebhook(boost::json::parse(webhook).as_object()));
  }
  Attributes attributes;
  attributes.resource = {"", "v1", "pods"};
  attributes.kind = {"", "v1", "Pod"};
  for (auto _ : state) benchmark::DoNotOptimize(index.Any(attributes));
}
BENCHMARK(NoMatch);

}  // namespace
}  // namespace apimesh::admission::matching

BENCHMARK_MAIN();
