// Measures the cost of reading and writing one pod of about 6 KB in each format.
#include <benchmark/benchmark.h>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

std::string PodJson() {
  json::array containers;
  for (int i = 0; i < 2; ++i) {
    json::array env, args;
    for (int j = 0; j < 14; ++j)
      env.push_back({{"name", "VARIABLE_" + std::to_string(j)}, {"value", "value-of-variable-" + std::to_string(j)}});
    for (int j = 0; j < 12; ++j) args.push_back(json::string("--flag-" + std::to_string(j) + "=value"));
    containers.push_back({{"name", "c" + std::to_string(i)},
                          {"image", "registry.example.com/team/app:v1"},
                          {"args", args},
                          {"env", env},
                          {"resources", {{"limits", {{"cpu", "500m"}, {"memory", "256Mi"}}}}}});
  }
  const json::object pod{{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", {{"name", "p"}, {"namespace", "default"}, {"labels", {{"app", "x"}}}}},
                         {"spec", {{"containers", containers}, {"restartPolicy", "Always"}}}};
  return WriteJson(pod);
}

const schema::Node& PodSchema() { return *schema::Builtin().Find("io.k8s.api.core.v1.Pod"); }
json::value Pod() { return ParseJson(PodJson(), {}).value(); }

void ReadJson(benchmark::State& state) {
  const std::string text = PodJson();
  for (auto _ : state)
    benchmark::DoNotOptimize(ParseJson(text, json::make_shared_resource<json::monotonic_resource>()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(ReadJson);

void ReadYaml(benchmark::State& state) {
  const std::string text = WriteYaml(Pod());
  for (auto _ : state)
    benchmark::DoNotOptimize(ParseYaml(text, json::make_shared_resource<json::monotonic_resource>()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(ReadYaml);

void ReadEnvelope(benchmark::State& state) {
  const std::string bytes = WriteProtobuf(Pod().as_object(), PodSchema());
  for (auto _ : state)
    benchmark::DoNotOptimize(ReadProtobuf(bytes, PodSchema(), json::make_shared_resource<json::monotonic_resource>()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(ReadEnvelope);

void BringIntoForm(benchmark::State& state) {
  const json::value pod = Pod();
  for (auto _ : state) {
    json::value copy(pod, json::make_shared_resource<json::monotonic_resource>());
    benchmark::DoNotOptimize(Normalise(copy.as_object(), PodSchema(), nullptr));
  }
}
BENCHMARK(BringIntoForm);

void WriteAsJson(benchmark::State& state) {
  const json::value pod = Pod();
  for (auto _ : state) benchmark::DoNotOptimize(WriteJson(pod));
}
BENCHMARK(WriteAsJson);

void WriteAsProtobuf(benchmark::State& state) {
  const json::value pod = Pod();
  for (auto _ : state) benchmark::DoNotOptimize(WriteProtobuf(pod.as_object(), PodSchema()));
}
BENCHMARK(WriteAsProtobuf);

}  // namespace
}  // namespace apimesh::codec

BENCHMARK_MAIN();
