#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "lib/meta/gvk.h"

namespace apimesh::schema {

/// The type of a value. One runtime schema serves built-in kinds (compiled from proto/k8s) and custom resources
/// (compiled from a CRD's OpenAPI v3 schema); all generic code uses it.
enum class Type : std::uint8_t {
  kAny,     // raw JSON: runtime.RawExtension, apiextensions JSON, preserve-unknown-fields without a type
  kObject,  // known fields
  kMap,     // string keys, values of one schema (`items`)
  kList,    // elements of one schema (`items`)
  kString,
  kInteger,  // int32 or int64, by `format`
  kNumber,
  kBoolean,
  kBytes,  // base64 text in JSON
  kIntOrString,
  kQuantity,
  kTime,
  kMicroTime,
  kDuration,
  kFieldsV1,  // managedFields[].fieldsV1
  // JSONSchemaProps or a simpler alternative, inside CRDs; `items` is JSONSchemaProps. Code other than the codecs may
  // treat these as kAny.
  kSchemaOrBool,
  kSchemaOrArray,
  kSchemaOrStrings,
};

enum class ListType : std::uint8_t { kAtomic, kSet, kMap };
enum class MapType : std::uint8_t { kGranular, kAtomic };

struct Node;

struct Field {
  std::string name;          // JSON name
  std::uint32_t number = 0;  // protobuf tag; 0 for custom resources
  const Node* schema = nullptr;
  bool required = false;  // the OpenAPI document lists it as required
  bool always = false;    // encoded even when empty ("status": {}), like a Go field without omitempty
  bool pointer = false;   // unset and zero differ; otherwise zero is equivalent to unset
  /// Set for a field that JSON has in this object and protobuf has inside an embedded message (an inline struct in Go):
  /// the field numbers of the embedded messages, the outermost in the low byte. `fields` is always the flat JSON view.
  std::uint32_t inline_path = 0;
  bool nullable = false;
  std::optional<boost::json::value> default_value;  // constant defaults only; the strategies of kinds set the others
  std::size_t default_bytes = 0;                    // length of the default as JSON; set when the schema is sealed
  // Strategic merge patch. The values come from the Go tags, which differ from the list types for some fields.
  bool patch_merge = false;
  bool patch_replace_keys = false;  // patchStrategy retainKeys
  std::string patch_merge_key;
  std::string go_type;  // the type name in error messages, if it does not follow from the schema: "v1.Protocol"
};

/// Nodes are immutable, owned by a Schema, and may be recursive.
struct Node {
  Type type = Type::kAny;
  std::string name;             // definition name, e.g. "io.k8s.api.core.v1.Container"; empty for anonymous schemas
  std::vector<Field> fields;    // kObject, in the order in which kube-apiserver encodes them
  const Node* items = nullptr;  // kList, kMap, and kObject with additionalProperties
                                // (a kList with a name is a separate message in protobuf)
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  MapType map_type = MapType::kGranular;
  bool preserve_unknown_fields = false;
  bool embedded_resource = false;
  bool custom = false;  // belongs to a custom resource, which Go holds as a map: keys are sorted and empty values kept
  std::vector<std::string> enums;
  std::string format;  // int32, int64, byte, date-time, …

  /// Custom resources only: the rest of the OpenAPI v3 validation vocabulary (minimum, pattern, oneOf, …).
  struct Rules;
  std::shared_ptr<const Rules> rules;

  /// Finds a field by JSON name; nullptr if unknown. Uses a hash table that Schema::Seal() builds.
  const Field* FindField(std::string_view json_name) const;
  const Field* FindNumber(std::uint32_t number) const;

  /// The Go names of the embedded structs by Field::inline_path, as error messages show them.
  std::vector<std::pair<std::uint32_t, std::string>> inline_names;

  // Indexes into `fields`. A custom resource may have more than 65,535 fields.
  std::vector<std::uint32_t> by_name;     // hash table, see FindField()
  std::vector<std::uint32_t> by_number;   // sorted
  std::vector<std::uint32_t> wire_order;  // all numbered fields in protobuf order, including the nesting
};

/// Owns the nodes of many kinds. It is immutable once sealed, so all threads share it without locks.
class Schema {
 public:
  Schema();
  ~Schema();
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;

  /// Finds a node by definition name ("io.k8s.api.core.v1.Pod"); nullptr if unknown.
  const Node* Find(std::string_view definition) const;
  /// Finds a node by kind; nullptr if unknown.
  const Node* FindKind(const meta::Gvk& kind) const;
  /// Returns the kinds whose schema is `node`; empty for a type that is only part of other objects.
  const std::vector<meta::Gvk>& KindsOf(const Node& node) const;

  /// Adds a node whose address stays valid. Schema compilers use this.
  Node* Add(Node node);
  void AddKind(const meta::Gvk& kind, const Node* node);
  /// Builds the indexes of all nodes. Call once, after the last Add().
  void Seal();

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace apimesh::schema
