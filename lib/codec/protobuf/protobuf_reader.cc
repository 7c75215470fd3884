#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/go_time.h"
#include "lib/codec/protobuf/protobuf_limits.h"
#include "lib/codec/protobuf/wire.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;
using schema::Field;
using schema::Node;
using schema::Type;

constexpr std::string_view kMagic("k8s\0", 4);

/// The runtime.Unknown message.
struct Envelope {
  std::string api_version, kind;
  std::string_view raw;
};

bool ReadEnvelope(std::string_view bytes, Envelope& envelope) {
  if (!bytes.starts_with(kMagic)) return false;
  wire::Reader outer(bytes.substr(kMagic.size()));
  while (outer.Next()) {
    if (outer.GetType() != wire::kLengthDelimited) continue;
    if (outer.Number() == 2) envelope.raw = outer.Bytes();
    if (outer.Number() != 1) continue;
    wire::Reader type_meta(outer.Bytes());
    while (type_meta.Next()) {
      if (type_meta.Number() == 1) envelope.api_version = type_meta.Bytes();
      if (type_meta.Number() == 2) envelope.kind = type_meta.Bytes();
    }
    if (type_meta.Failed()) return false;
  }
  return !outer.Failed();
}

class ProtobufReader {
 public:
  ProtobufReader(json::storage_ptr arena, const ProtobufLimits& limits) : arena_(std::move(arena)), limits_(limits) {}

  /// Returns why Message() has returned false.
  meta::ApiError Problem() const {
    if (values_ > limits_.values)
      return meta::RequestEntityTooLarge(fmt::format("limit is {} protobuf values", limits_.values));
    if (keys_ > limits_.keys)
      return meta::RequestEntityTooLarge(fmt::format("limit is {} protobuf keys", limits_.keys));
    return meta::BadRequest("unexpected EOF");
  }

  /// Reads a message into `object`. `prefix` is the inline path of an embedded message, `level` its depth.
  bool Message(std::string_view bytes, const Node& node, json::object& object, std::uint32_t prefix = 0,
               int level = 0) {
    if (++depth_ > kMaxDepth) return false;
    if (bytes.size() > kLargeMessage && prefix == 0 && !ReserveLists(bytes, node, object)) return false;
    wire::Reader reader(bytes);
    while (reader.Next()) {
      const std::uint32_t below = prefix | reader.Number() << (8 * level);
      const Field* const field = FindField(node, prefix, reader.Number());
      const bool embedded = !field && IsEmbedded(node, prefix, below, reader.Number(), level);
      if (embedded && !Message(reader.Bytes(), node, object, below, level + 1)) return false;
      if (field && !FieldValue(reader, *field, object)) return false;
    }
    --depth_;
    return !reader.Failed();
  }

 private:
  static constexpr int kMaxDepth = 200;
  static constexpr std::size_t kLargeMessage = 64 * 1024;

  /// Reserves the lists of a large message in advance. An element may take only two bytes of the message, and an arena
  /// does not free the memory that a growing list abandons. Returns false if the message has too many values.
  bool ReserveLists(std::string_view bytes, const Node& node, json::object& object) {
    std::vector<std::size_t> counts(node.fields.size());
    std::size_t values = values_;
    for (wire::Reader reader(bytes); reader.Next();) {
      const Field* field = node.FindNumber(reader.Number());
      if (!field) continue;
      ++counts[static_cast<std::size_t>(field - node.fields.data())];
      if (++values <= limits_.values) continue;
      values_ = values;
      return false;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Field* field = &node.fields[i];
      const std::size_t count = counts[i];
      if (count < 2 || field->schema->type != Type::kList || !field->schema->name.empty()) continue;
      json::value& slot = object[field->name];
      if (!slot.is_array()) slot = json::array(arena_);
      slot.get_array().reserve(slot.get_array().size() + count);
    }
    return true;
  }

  /// Counts a value, which has a key or is an element of a list. Returns false if there are too many.
  bool Count(bool has_key) {
    if (has_key) ++keys_;
    return ++values_ <= limits_.values && keys_ <= limits_.keys;
  }

  static const Field* FindField(const Node& node, std::uint32_t prefix, std::uint32_t number) {
    if (prefix == 0) return node.FindNumber(number);
    for (const std::uint32_t index : node.wire_order) {
      const Field& candidate = node.fields[index];
      if (candidate.inline_path == prefix && candidate.number == number) return &candidate;
    }
    return nullptr;
  }

  /// Returns whether a field number is that of an embedded message, whose fields belong to `node`.
  static bool IsEmbedded(const Node& node, std::uint32_t prefix, std::uint32_t below, std::uint32_t number, int level) {
    if (node.inline_names.empty() || number >= 0x100) return false;
    const std::uint64_t mask = (1ull << (8 * (level + 1))) - 1;
    return std::any_of(node.wire_order.begin(), node.wire_order.end(), [&](std::uint32_t index) {
      const std::uint32_t path = node.fields[index].inline_path;
      return path != prefix && (path & mask) == below;
    });
  }

  bool FieldValue(const wire::Reader& reader, const Field& field, json::object& object) {
    const Node& node = *field.schema;
    const bool element = node.type == Type::kList && node.name.empty();
    if (!Count(!element)) return false;
    json::value& slot = object[field.name];
    if (node.type == Type::kMap) {
      if (!slot.is_object()) slot = json::object(arena_);
      return MapEntry(reader.Bytes(), *node.items, slot.get_object());
    }
    if (element) {
      if (!slot.is_array()) slot = json::array(arena_);
      return Value(reader, *node.items, slot.get_array().emplace_back(nullptr));
    }
    return Value(reader, node, slot);
  }

  bool MapEntry(std::string_view bytes, const Node& items, json::object& map) {
    std::string_view key;
    json::value value(arena_);
    wire::Reader entry(bytes);
    while (entry.Next()) {
      if (entry.Number() == 1) key = entry.Bytes();
      if (entry.Number() == 2 && !Value(entry, items, value)) return false;
    }
    map[json::string_view(key.data(), key.size())] = std::move(value);
    return !entry.Failed();
  }

  bool Value(const wire::Reader& reader, const Node& node, json::value& out) {
    const std::string_view bytes = reader.Bytes();
    switch (node.type) {
      case Type::kBoolean:
      case Type::kInteger:
        if (reader.GetType() != wire::kVarint) return false;
        if (node.type == Type::kBoolean) return out = reader.Integer() != 0, true;
        out = node.format == "int32" ? std::int64_t(static_cast<std::int32_t>(reader.Integer()))
                                     : static_cast<std::int64_t>(reader.Integer());
        return true;
      case Type::kNumber:
        if (reader.GetType() != wire::kFixed64) return false;
        return out = reader.Double(), true;
      default: break;
    }
    if (reader.GetType() != wire::kLengthDelimited) return false;
    switch (node.type) {
      case Type::kString: return out = json::string_view(bytes.data(), bytes.size()), true;
      case Type::kBytes: return out = EncodeBase64(bytes), true;
      case Type::kObject:
        if (!out.is_object()) out = json::object(arena_);
        return Message(bytes, node, out.get_object());
      default: return Special(bytes, node, out);
    }
  }

  bool Special(std::string_view bytes, const Node& node, json::value& out) {
    wire::Reader reader(bytes);
    std::int64_t first = 0, second = 0;
    while (reader.Next()) {
      if (reader.GetType() == wire::kVarint && reader.Number() == 1)
        first = static_cast<std::int64_t>(reader.Integer());
      if (reader.GetType() == wire::kVarint && reader.Number() == 2)
        second = static_cast<std::int64_t>(reader.Integer());
      if (reader.GetType() == wire::kLengthDelimited && !SpecialField(reader, node, first, out)) return false;
    }
    switch (node.type) {
      case Type::kTime:
      case Type::kMicroTime: return Time(bytes.empty(), first, second, node.type == Type::kMicroTime, out);
      case Type::kIntOrString:
        if (first == 0) out = std::int64_t(static_cast<std::int32_t>(second));
        break;
      case Type::kSchemaOrBool:
        if (!out.is_object()) out = first != 0;
        break;
      default: break;
    }
    return !reader.Failed();
  }

  bool SpecialField(const wire::Reader& reader, const Node& node, std::int64_t first, json::value& out) {
    const json::string_view text(reader.Bytes().data(), reader.Bytes().size());
    switch (node.type) {
      case Type::kQuantity: return out = text, true;
      case Type::kIntOrString:
        if (first == 1) out = text;
        return true;
      case Type::kAny:
      case Type::kFieldsV1: {
        if (reader.Number() != 1) return true;
        auto value = ParseJson(reader.Bytes(), arena_);
        if (value) out = std::move(*value);
        return value.has_value();
      }
      case Type::kList: return AsArray(out).emplace_back(text), true;
      case Type::kSchemaOrBool:
      case Type::kSchemaOrArray:
      case Type::kSchemaOrStrings: {
        const bool schema = reader.Number() == (node.type == Type::kSchemaOrBool ? 2u : 1u);
        if (!schema && node.type == Type::kSchemaOrStrings) return AsArray(out).emplace_back(text), true;
        json::value& target = schema ? out : AsArray(out).emplace_back(nullptr);
        target = json::object(arena_);
        return Message(reader.Bytes(), *node.items, target.get_object());
      }
      default: return true;
    }
  }

  static bool Time(bool unset, std::int64_t seconds, std::int64_t nanos, bool micro, json::value& out) {
    // The text format can represent the years 1 to 9999.
    if (seconds < -62135596800 || seconds > 253402300799 || nanos < 0 || nanos > 999'999'999) return false;
    const GoTime time{seconds, static_cast<std::int32_t>(nanos)};
    out = nullptr;
    if (!unset && !time.IsZero()) out = FormatGoTime(time, micro);
    return true;
  }

  json::array& AsArray(json::value& value) {
    if (!value.is_array()) value = json::array(arena_);
    return value.get_array();
  }

  const json::storage_ptr arena_;
  const ProtobufLimits limits_;
  std::size_t values_ = 0, keys_ = 0;
  int depth_ = 0;
};

}  // namespace

bool IsProtobuf(std::string_view bytes) { return bytes.starts_with(kMagic); }

meta::Result<meta::Gvk> PeekProtobuf(std::string_view bytes) {
  Envelope envelope;
  if (bytes.empty()) return meta::BadRequest("empty data");
  if (bytes == kMagic) return meta::BadRequest("empty body");
  if (!IsProtobuf(bytes))
    return meta::BadRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  if (!ReadEnvelope(bytes, envelope)) return meta::BadRequest("unexpected EOF");
  meta::GroupVersion version = meta::GroupVersion::Parse(envelope.api_version);
  return meta::Gvk{std::move(version.group), std::move(version.version), std::move(envelope.kind)};
}

meta::Result<meta::Object> ReadProtobuf(std::string_view bytes, const Node& node, json::storage_ptr arena) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  return ReadProtobuf(bytes, node, std::move(arena), ProtobufLimits{kAny, kAny});
}

meta::Result<meta::Object> ReadProtobuf(std::string_view bytes, const Node& node, json::storage_ptr arena,
                                        const ProtobufLimits& limits) {
  RETURN_IF_ERROR(PeekProtobuf(bytes));
  Envelope envelope;
  ReadEnvelope(bytes, envelope);
  json::object root(arena);
  if (!envelope.kind.empty()) root["kind"] = envelope.kind;
  if (!envelope.api_version.empty()) root["apiVersion"] = envelope.api_version;
  ProtobufReader reader(arena, limits);
  if (!reader.Message(envelope.raw, node, root)) return reader.Problem();
  RETURN_IF_ERROR(Normalise(root, node, nullptr));
  return meta::Object(std::move(root));
}

}  // namespace apimesh::codec
