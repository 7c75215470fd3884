#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Bytes to documents and back. Every parser here takes bytes from outside: each has limits and a fuzz target.
namespace apimesh::codec {

struct ParseLimits {
  std::size_t depth = 1000;          // deeper: 400, with no stack used for it
  std::size_t bytes = 3 << 20;
  std::size_t yaml_alias_bytes = 8 << 20;      // memory for the copies that anchors and aliases make
  std::size_t yaml_flow_tokens = 100'000;      // brackets, commas and scalars of one flow collection
};

/// What strict decoding found, in the reference's words: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
struct Strictness {
  std::vector<std::string> complaints;

  /// At most 100 complaints, as in the reference. Their texts contain paths, which can be as long as the document, so the
  /// total length of the paths that were looked at is limited too.
  static constexpr std::size_t kMaxComplaints = 100;
  static constexpr std::size_t kMaxPathBytes = 1 << 16;
  std::size_t path_bytes = 0;
  bool WantsMore() const { return complaints.size() < kMaxComplaints && path_bytes < kMaxPathBytes; }

  /// Where the duplicate fields among the complaints are, for Normalise to name everything in the order of the document.
  struct Duplicate {
    std::string parent, key;
    std::size_t after;  // so many other fields of the parent came before
  };
  std::vector<Duplicate> duplicates;
};

/// JSON text to a document. `strict` (may be nullptr) collects duplicate fields.
meta::Result<meta::json::value> ParseJson(std::string_view text, meta::json::storage_ptr arena, Strictness* strict = nullptr,
                                          const ParseLimits& limits = {});
/// YAML (one document) to the same.
meta::Result<meta::json::value> ParseYaml(std::string_view text, meta::json::storage_ptr arena, Strictness* strict = nullptr,
                                          const ParseLimits& limits = {});

/// The reference's complaint about keys that a YAML mapping has twice; empty: none, or no YAML.
std::string YamlDuplicates(std::string_view text);

/// Compact JSON as Go's encoder writes it: keys in the document's order, <, > and & escaped, floats in Go's form.
std::string WriteJson(const meta::json::value& value);
void AppendJson(std::string& out, const meta::json::value& value);
/// Two-space indentation, as ?pretty=true gives it. `indent`: of the lines after the first one, where the value stands inside another.
std::string WritePrettyJson(const meta::json::value& value, std::size_t indent = 0);
std::string WriteYaml(const meta::json::value& value);
/// What stands after the "- " of an element, without its last line's end; the dash is indented by `indent`.
std::string WriteYamlElement(const meta::json::value& value, std::size_t indent);

/// Brings a document into the form its schema gives it: unknown fields dropped (and reported to `strict`), types checked
/// (400 with the reference's text), numbers, times and quantities normalised, empty fields omitted or kept as the Go type
/// does, keys in schema order. Custom resources: unknown fields are pruned, keys sorted.
/// 413 if the fields that are always written would add more than kMaxAddedBytes to a document: each of a million empty
/// items would get some, and no store takes an object that large.
inline constexpr std::size_t kMaxAddedBytes = 3 << 19;
/// The error for an object that grew beyond what the store takes, before it was sent there.
meta::ApiError TooLargeToStore();
meta::Result<> Normalise(meta::json::object& document, const schema::Node& node, Strictness* strict);

/// The `k8s\0` envelope (runtime.Unknown) around the protobuf form of an object, by the schema's field numbers.
std::string WriteProtobuf(const meta::json::object& object, const schema::Node& node);
meta::Result<meta::Object> ReadProtobuf(std::string_view bytes, const schema::Node& node, meta::json::storage_ptr arena);
/// One event of a protobuf watch, with its length in front. `object` is an envelope.
std::string WriteProtobufWatchFrame(std::string_view type, std::string_view object);
/// Only the type of what an envelope holds.
meta::Result<meta::Gvk> PeekProtobuf(std::string_view bytes);
bool IsProtobuf(std::string_view bytes);

}  // namespace apimesh::codec
