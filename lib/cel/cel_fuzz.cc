#include <boost/json/parse.hpp>

#include "lib/cel/program.h"
#include "lib/cel/value/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::cel;
  static const boost::json::value claims =
      boost::json::parse(R"({"sub":"jane","groups":["a","b"],"n":3,"nested":{"x":[1,2.5,null,true]}})");
  static const Program::Scope scope = [] {
    Program::Scope out;
    out.variables = {{"claims", Type::Map(Type::String(), Type::Dyn())}, {"text", Type::String()}};
    return out;
  }();
  const auto compiled = Program::Compile(std::string(reinterpret_cast<const char*>(data), size), scope);
  if (!compiled.program) return 0;
  compiled.program->EstimateCost(nullptr);
  Evaluation evaluation;
  evaluation.cost_limit = 10'000;
  const Value variables[] = {Value::FromJson(claims, evaluation.arena), Value::String("grüße")};
  ToLiteral(compiled.program->Evaluate(variables, evaluation), evaluation.arena);
  return 0;
}
