#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/looks_like_json.h"
#include "lib/codec/yaml/yaml_builder.h"
#include "lib/codec/yaml/yaml_events.h"

namespace apimesh::codec {
namespace {

meta::Result<meta::json::value> Read(std::string_view text, meta::json::storage_ptr arena, const ParseLimits& limits,
                                     YamlBuilder::Options options, std::string& duplicates) {
  YamlEvents events(text, limits.depth);
  YamlBuilder builder(std::move(arena), options, limits);
  YamlEvent event;
  for (;;) {
    if (!events.Next(event)) return meta::BadRequest(events.Problem());
    if (event.type == YamlEvent::Type::kDocumentEnd) break;
    if (!builder.Add(event)) return builder.Problem();
  }
  duplicates = builder.Duplicates();
  return builder.Finish();
}

}  // namespace

std::string YamlDuplicates(std::string_view text) {
  const ParseLimits limits;
  std::string duplicates;
  return Read(text, meta::NewArena(), limits, {.find_duplicates = true}, duplicates) ? duplicates : "";
}

meta::Result<meta::json::value> ParseYamlWithDuplicates(std::string_view text, meta::json::storage_ptr arena,
                                                        std::string& duplicates, const ParseLimits& limits) {
  if (text.size() > limits.bytes) return meta::RequestEntityTooLarge(fmt::format("limit is {}", limits.bytes));
  if (LooksLikeJson(text)) {
    Strictness found;
    auto value = ParseJson(text, arena, &found, limits);
    // Keys of JSON are quoted, so keys that differ in JSON also differ in YAML.
    if (value && !found.complaints.empty()) duplicates = YamlDuplicates(text);
    if (value) return value;
  }
  return Read(text, std::move(arena), limits, {.find_duplicates = true}, duplicates);
}

meta::Result<meta::json::value> ParseYamlStrings(std::string_view text) {
  const ParseLimits limits;
  std::string duplicates;
  return Read(text, {}, limits, {.all_strings = true}, duplicates);
}

meta::Result<meta::json::value> ParseYaml(std::string_view text, meta::json::storage_ptr arena, Strictness* strict,
                                          const ParseLimits& limits) {
  if (text.size() > limits.bytes) return meta::RequestEntityTooLarge(fmt::format("limit is {}", limits.bytes));
  // The JSON parser is not used in strict mode, because its messages about duplicate fields are different.
  if (!strict && LooksLikeJson(text)) {
    if (auto value = ParseJson(text, arena, nullptr, limits)) return value;
  }
  std::string duplicates;
  ASSIGN_OR_RETURN(meta::json::value value,
                   Read(text, std::move(arena), limits, {.find_duplicates = strict != nullptr}, duplicates));
  if (strict && !duplicates.empty()) strict->complaints.push_back(std::move(duplicates));
  return value;
}

}  // namespace apimesh::codec
