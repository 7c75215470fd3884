// The CPU time of one evaluation of each rule of tests/cel/measured_rules.json, as a write of an object evaluates it.
// `tests/cel/reference` measures kube-apiserver's own evaluation of the same rules; see its README.
#include <benchmark/benchmark.h>
#include <boost/json/parse.hpp>

#include "lib/base/file.h"
#include "services/extensions-api/validations/rule.h"

namespace apimesh::extensions_api {
namespace {

namespace json = boost::json;

std::filesystem::path File() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path() /
         "tests/cel/measured_rules.json";
}

void Measure(benchmark::State& state, const json::object& one) {
  const json::object& schema = one.at("schema").get_object();
  const SelfType self = MakeSelfType(schema, schema.contains("x-kubernetes-embedded-resource"));
  ValidationRule rule;
  rule.rule = one.at("rule").get_string();
  const CompiledRule compiled = CompileRule(rule, self, {});
  const json::value& object = one.at("object");
  cel::Evaluation evaluation;
  for (auto _ : state) {
    evaluation.arena.Clear();
    const cel::Value variables[] = {cel::Value::FromJson(object, self.shape.get(), evaluation.arena),
                                    cel::Value::Unset()};
    if (!compiled.program || !compiled.program->Evaluate(variables, evaluation).IsTrue()) {
      state.SkipWithError("the rule is not true");
      break;
    }
  }
}

void MeasureCompilation(benchmark::State& state, const json::object& one) {
  const json::object& schema = one.at("schema").get_object();
  ValidationRule rule;
  rule.rule = one.at("rule").get_string();
  for (auto _ : state) {
    const SelfType self = MakeSelfType(schema, schema.contains("x-kubernetes-embedded-resource"));
    benchmark::DoNotOptimize(CompileRule(rule, self, {}));
  }
}

}  // namespace
}  // namespace apimesh::extensions_api

int main(int argc, char** argv) {
  using namespace apimesh;
  const auto rules = boost::json::parse(*ReadFile(extensions_api::File())).get_array();
  for (const auto& rule : rules) {
    const auto& one = rule.get_object();
    const std::string name(one.at("name").get_string());
    benchmark::RegisterBenchmark(name.c_str(), [&one](auto& state) { extensions_api::Measure(state, one); });
    benchmark::RegisterBenchmark(("compile " + name).c_str(),
                                 [&one](auto& state) { extensions_api::MeasureCompilation(state, one); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
