// Measures the cost of parsing a selector and of matching it against one object.
#include <benchmark/benchmark.h>

#include "lib/meta/selectors/selector.h"

namespace apimesh::meta {
namespace {

const Labels& PodLabels() {
  static const Labels labels{
      {"app", "bench"}, {"pod-template-hash", "5d9c7b9c4"}, {"tier", "backend"}, {"track", "stable"}};
  return labels;
}

void Parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(LabelSelector::Parse("app=bench,tier in (backend,frontend),!legacy"));
}
BENCHMARK(Parse);

void MatchOneLabel(benchmark::State& state) {
  const LabelSelector selector = *LabelSelector::Parse("tier=backend");
  for (auto _ : state) benchmark::DoNotOptimize(selector.Matches(PodLabels()));
}
BENCHMARK(MatchOneLabel);

void MatchSets(benchmark::State& state) {
  const LabelSelector selector = *LabelSelector::Parse("app=bench,tier in (backend,frontend),!legacy");
  for (auto _ : state) benchmark::DoNotOptimize(selector.Matches(PodLabels()));
}
BENCHMARK(MatchSets);

void MatchField(benchmark::State& state) {
  const FieldSelector selector = *FieldSelector::Parse("spec.nodeName=node-7");
  const FieldSelector::Lookup lookup = [](std::string_view) { return std::string_view("node-7"); };
  for (auto _ : state) benchmark::DoNotOptimize(selector.Matches(lookup));
}
BENCHMARK(MatchField);

}  // namespace
}  // namespace apimesh::meta

BENCHMARK_MAIN();
