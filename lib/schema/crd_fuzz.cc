// Fuzzes schemas of CRDs and their objects, which come from untrusted clients. The input is a schema, a line break and
// an object. Pruning and defaulting must be idempotent.
#include <cstdint>
#include <cstdlib>

#include <boost/json/serialize.hpp>

#include "lib/schema/crd.h"
#include "lib/schema/defaults.h"
#include "lib/schema/duplicates.h"
#include "lib/schema/pruning.h"
#include "lib/schema/validation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  namespace json = meta::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  json::error_code error;
  const json::value openapi = json::parse(text.substr(0, line), error);
  if (error || !openapi.is_object()) return 0;
  if (!schema::CheckStructural(openapi.get_object(), meta::Path("openAPIV3Schema")).empty()) return 0;
  schema::Schema schema;
  const schema::Node& node = *schema::CompileOpenApi(openapi.get_object(), schema);
  schema.Seal();

  json::value object = json::parse(text.substr(line + 1), error);
  if (error || !object.is_object()) return 0;
  schema::Prune(object.get_object(), node);
  schema::ApplyDefaults(object.get_object(), node);
  schema::ValidateCustomResource(object.get_object(), node);
  schema::FindDuplicates(object.get_object(), node);
  const std::string once = json::serialize(object);
  schema::ApplyDefaults(object.get_object(), node);
  if (json::serialize(object) != once) std::abort();
  return 0;
}
