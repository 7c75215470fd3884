#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Parses bytes into documents and encodes documents as bytes. All parsers receive untrusted input, so each has limits
/// and a fuzz target.
namespace apimesh::codec {

struct ParseLimits {
  std::size_t depth = 1000;  // deeper documents are a 400; nesting does not use the call stack
  std::size_t bytes = 3 << 20;
  std::size_t yaml_alias_bytes = 8 << 20;  // memory for the copies that anchors and aliases create
  std::size_t yaml_nodes =
      750'000;  // more nodes are a 413: each takes at least two bytes of JSON, and the store rejects objects of 1.5 MB
};

/// Findings of strict decoding, with the messages of kube-apiserver: `unknown field "spec.foo"`, `duplicate field
/// "spec.a"`.
struct Strictness {
  std::vector<std::string> complaints;

  /// There are at most 100 complaints, as in kube-apiserver. Complaints contain paths, which can be as long as the
  /// document, so the total length of the examined paths is limited too.
  static constexpr std::size_t kMaxComplaints = 100;
  static constexpr std::size_t kMaxPathBytes = 1 << 16;
  std::size_t path_bytes = 0;
  bool WantsMore() const { return complaints.size() < kMaxComplaints && path_bytes < kMaxPathBytes; }

  /// The positions of the duplicate fields among the complaints, with which Normalise() reports all complaints in
  /// document order.
  struct Duplicate {
    std::string parent, key;
    std::size_t after;  // the number of other fields of the parent before it
  };
  std::vector<Duplicate> duplicates;
};

/// Parses JSON. Duplicate fields are added to `strict`, which may be nullptr.
meta::Result<meta::json::value> ParseJson(std::string_view text, meta::json::storage_ptr arena,
                                          Strictness* strict = nullptr, const ParseLimits& limits = {});
/// Parses one YAML document.
meta::Result<meta::json::value> ParseYaml(std::string_view text, meta::json::storage_ptr arena,
                                          Strictness* strict = nullptr, const ParseLimits& limits = {});

/// Parses YAML with all scalars as strings, exactly as written: 1.20 is "1.20", and an empty value is "". Used for flag
/// values.
meta::Result<meta::json::value> ParseYamlStrings(std::string_view text);

/// Returns kube-apiserver's message about duplicate keys of YAML mappings. Returns "" if there are none or the text is
/// not YAML.
std::string YamlDuplicates(std::string_view text);
/// Returns the same document as ParseYaml() without `strict`, and sets `duplicates` to YamlDuplicates(text). It parses
/// the text twice only if it is JSON with duplicate keys.
meta::Result<meta::json::value> ParseYamlWithDuplicates(std::string_view text, meta::json::storage_ptr arena,
                                                        std::string& duplicates, const ParseLimits& limits = {});

/// Writes compact JSON like Go's encoder: keys in document order; <, > and & escaped; floats in Go's format.
std::string WriteJson(const meta::json::value& value);
/// The same for an object, without the copy that a conversion to a value makes.
std::string WriteJson(const meta::json::object& object);
void AppendJson(std::string& out, const meta::json::value& value);
/// Writes JSON with two-space indentation, as for ?pretty=true. `indent` is the indentation of all lines but the first,
/// for a value inside another document.
std::string WritePrettyJson(const meta::json::value& value, std::size_t indent = 0);
std::string WriteYaml(const meta::json::value& value);
/// Returns the text after the "- " of a list element, without the final line break. `indent` is the indentation of the
/// dash.
std::string WriteYamlElement(const meta::json::value& value, std::size_t indent);

/// The maximum number of bytes of always-written fields that Normalise() adds to a document: each of a million empty
/// items could get some, and the store rejects objects that large.
inline constexpr std::size_t kMaxAddedBytes = 3 << 19;
/// Returns the 413 error for an object that has become too large for the store.
meta::ApiError TooLargeToStore();
/// Normalises a document according to its schema: drops unknown fields (and reports them to `strict`), checks types
/// (400 with kube-apiserver's message), converts numbers, times and quantities to their canonical form, omits or keeps
/// empty fields as the Go type does, and puts the keys in schema order. For custom resources, it prunes unknown fields
/// and sorts the keys. Returns 413 if it would add more than kMaxAddedBytes.
meta::Result<> Normalise(meta::json::object& document, const schema::Node& node, Strictness* strict);

/// Encodes an object as protobuf with the field numbers of the schema, in the `k8s\0` envelope (runtime.Unknown).
std::string WriteProtobuf(const meta::json::object& object, const schema::Node& node);
meta::Result<meta::Object> ReadProtobuf(std::string_view bytes, const schema::Node& node,
                                        meta::json::storage_ptr arena);
/// Encodes one event of a protobuf watch with its length prefix. `object` is an envelope.
std::string WriteProtobufWatchFrame(std::string_view type, std::string_view object);
/// Returns only the kind of the object in an envelope.
meta::Result<meta::Gvk> PeekProtobuf(std::string_view bytes);
bool IsProtobuf(std::string_view bytes);

}  // namespace apimesh::codec
