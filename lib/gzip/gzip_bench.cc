// The cost of compressing a list: as one stream, with ISA-L and with zlib's fastest level; as blocks of a given size in
// KB; and of joining kept blocks.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <zlib.h>

#include "lib/gzip/blocks.h"
#include "lib/gzip/stream.h"

namespace apimesh::gzip {
namespace {

/// 500 objects of about 6 KB. `alike`: they differ only in a name and an id, like the objects of one application.
std::vector<std::string> Objects(bool alike) {
  std::minstd_rand random(1);
  std::vector<std::string> objects;
  for (int i = 0; i < 500; ++i) {
    std::string text =
        fmt::format(R"({{"metadata":{{"name":"pod-{}","uid":"{:x}-{:x}"}},"spec":{{"env":[)", i, random(), random());
    for (int j = 0; j < 100; ++j) {
      text += fmt::format(R"({{"name":"VARIABLE_{}","value":"value-{:x}"}},)", j, alike ? j * 7919 : random());
    }
    objects.push_back(text + "]}}");
  }
  return objects;
}

void Report(benchmark::State& state, const std::vector<std::string>& parts, std::size_t packed) {
  std::size_t plain = 0;
  for (const std::string& part : parts) plain += part.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(plain) * state.iterations());
  state.counters["percent"] = 100.0 * static_cast<double>(packed) / static_cast<double>(plain);
}

void OneStream(benchmark::State& state) {
  const std::vector<std::string> objects = Objects(state.range(0) == 1);
  std::string out;
  for (auto _ : state) {
    out.clear();
    Stream stream;
    for (const std::string& object : objects) stream.Add(object, false, out);
    stream.Finish(out);
  }
  Report(state, objects, out.size());
}
BENCHMARK(OneStream)->ArgName("alike")->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

void OneStreamByZlib(benchmark::State& state) {
  const std::vector<std::string> objects = Objects(state.range(0) == 1);
  std::size_t size = 0;
  std::vector<Bytef> buffer(1 << 20);
  for (auto _ : state) {
    z_stream stream{};
    deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size = 0;
    for (std::size_t i = 0; i <= objects.size(); ++i) {
      const bool end = i == objects.size();
      stream.next_in = end ? nullptr : reinterpret_cast<Bytef*>(const_cast<char*>(objects[i].data()));
      stream.avail_in = end ? 0 : static_cast<uInt>(objects[i].size());
      do {
        stream.next_out = buffer.data();
        stream.avail_out = static_cast<uInt>(buffer.size());
        deflate(&stream, end ? Z_FINISH : Z_NO_FLUSH);
        size += buffer.size() - stream.avail_out;
      } while (stream.avail_out == 0);
    }
    deflateEnd(&stream);
  }
  Report(state, objects, size);
}
BENCHMARK(OneStreamByZlib)->ArgName("alike")->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

/// Runs of at least the given number of KB; 0: one block per object.
void Blocks(benchmark::State& state) {
  const std::vector<std::string> objects = Objects(state.range(0) == 1);
  std::vector<std::string> runs(1);
  for (const std::string& object : objects) {
    if (!runs.back().empty() && runs.back().size() >= static_cast<std::size_t>(state.range(1)) << 10)
      runs.emplace_back();
    runs.back() += object;
  }
  std::size_t size = 0;
  for (auto _ : state) {
    size = 0;
    for (const std::string& run : runs) {
      size += Deflate(run).size();
      benchmark::DoNotOptimize(SumOf(run));
    }
  }
  Report(state, objects, size);
}
BENCHMARK(Blocks)->ArgNames({"alike", "KB"})->ArgsProduct({{1, 0}, {0, 16, 32, 64}})->Unit(benchmark::kMicrosecond);

void JoinKeptBlocks(benchmark::State& state) {
  std::vector<Sum> sums;
  for (const std::string& object : Objects(true)) sums.push_back(SumOf(object));
  for (auto _ : state) {
    Body body;
    for (const Sum& sum : sums) body.Add(sum);
    benchmark::DoNotOptimize(body.Tail());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(sums.size()) * state.iterations());
}
BENCHMARK(JoinKeptBlocks)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace apimesh::gzip

BENCHMARK_MAIN();
