// Measures the cost of one change in the watch cache, alone and with watchers, and the benefit of snapshots and
// indexes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "lib/storage/watch_cache/watch_cache.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

constexpr int kObjects = 5000;

const std::shared_ptr<const EntryRecipe>& Recipe() {
  static const auto recipe = [] {
    ResourceConfig config;
    config.resource = {"", "pods"};
    config.selectable_fields = {"spec.nodeName"};
    return std::make_shared<const EntryRecipe>(std::move(config));
  }();
  return recipe;
}

std::string KeyOf(int number) { return fmt::format("default/pod-{:05}", number); }

CachedEntryPtr Pod(int number, Revision revision) {
  return *CachedEntry::FromJson(
      Recipe(), KeyOf(number), revision,
      fmt::format(
          R"({{"metadata":{{"name":"pod-{:05}","labels":{{"app":"bench","fiftieth":"f{}"}}}},"spec":{{"nodeName":"n{}"}},"filler":"{}"}})",
          number, number % 50, number % 100, std::string(1000, 'x')));
}

void FillCache(WatchCache& cache) {
  std::vector<CachedEntryPtr> pods;
  for (int i = 0; i < kObjects; ++i) pods.push_back(Pod(i, 1));
  cache.Fill(std::move(pods), 1);
}

void MakeEntry(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Pod(7, 2));
}
BENCHMARK(MakeEntry);

/// A change with this many watchers of other namespaces: each filter is tested against the change.
void ApplyChange(benchmark::State& state) {
  BackendOptions options{.clock = testing::SystemClock()};
  options.window_bytes = 1 << 20;
  WatchCache cache(Recipe(), options);
  FillCache(cache);
  const Filter elsewhere{"elsewhere/", {}, {}};
  for (int i = 0; i < state.range(0); ++i) cache.Take(cache.Generation(), cache.Current()->sequence, 1, elsewhere);
  Revision revision = 1;
  for (auto _ : state) {
    ++revision;
    std::vector<WatchCache::Change> changes;
    const int number = static_cast<int>(revision % kObjects);
    changes.push_back({KeyOf(number), Pod(number, revision), revision});
    cache.Apply(std::move(changes), revision);
  }
}
BENCHMARK(ApplyChange)->Arg(0)->Arg(500)->Arg(5000);

/// A change that is delivered to this many watchers.
void FanOut(benchmark::State& state) {
  WatchCache cache(Recipe(), BackendOptions{.clock = testing::SystemClock()});
  FillCache(cache);
  const Filter all{"default/", {}, {}};
  Revision revision = 1;
  for (auto _ : state) {
    ++revision;
    const std::uint64_t next = cache.Current()->sequence;
    std::vector<WatchCache::Change> changes;
    changes.push_back({KeyOf(7), Pod(7, revision), revision});
    cache.Apply(std::move(changes), revision);
    for (int i = 0; i < state.range(0); ++i) {
      const WatchCache::Pending pending = cache.Take(cache.Generation(), next, 256, all);
      benchmark::DoNotOptimize(pending.events.front()->SeenBy(all));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(FanOut)->Arg(1)->Arg(500);

void WalkByLabel(benchmark::State& state) {
  WatchCache cache(Recipe(), BackendOptions{.clock = testing::SystemClock()});
  FillCache(cache);
  const Filter filter{"default/", *meta::LabelSelector::Parse("fiftieth=f7"), {}};
  if (state.range(0) == 1) {
    for (int i = 0; i < 3; ++i) cache.FindCandidates(*cache.Current(), filter);
  }
  for (auto _ : state) {
    const SnapshotPtr snapshot = cache.Current();
    const Tree* const part = state.range(0) == 1 ? cache.FindCandidates(*snapshot, filter).tree : nullptr;
    int found = 0;
    (part ? *part : snapshot->tree).Walk(filter.prefix, [&](const CachedEntryPtr& entry) {
      found += filter.Matches(*entry) ? 1 : 0;
      return true;
    });
    if (found != kObjects / 50) state.SkipWithError("not all found");
  }
}
BENCHMARK(WalkByLabel)->ArgName("indexed")->Arg(0)->Arg(1);

}  // namespace
}  // namespace apimesh::storage

BENCHMARK_MAIN();
