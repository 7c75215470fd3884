#include <boost/json/serialize.hpp>

#include "lib/cel/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::cel;
  static const boost::json::value claims =
      boost::json::parse(R"({"sub":"jane","groups":["a","b"],"n":3,"nested":{"x":[1,2.5,null,true]}})");
  static const std::map<std::string, Type> declared{{"claims", Type::MapOf(Type())},
                                                    {"text", Type::Of(Type::Kind::kString)}};
  static const std::map<std::string, Value> variables{{"claims", Value::FromJson(claims)},
                                                      {"text", Value::String("grüße")}};
  const auto compiled = Program::Compile(std::string(reinterpret_cast<const char*>(data), size), declared);
  if (!compiled.program) return 0;
  boost::json::serialize(compiled.program->Evaluate(variables, 10'000).ToJson());
  return 0;
}
