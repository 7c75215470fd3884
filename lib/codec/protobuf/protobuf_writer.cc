#include <algorithm>
#include <span>
#include <vector>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/codec/go_time.h"
#include "lib/codec/protobuf/wire.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;
using schema::Field;
using schema::Node;
using schema::Type;

const json::object kNothing;

std::string_view Text(const json::value* value) {
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

void PutTime(std::string& out, const json::value* value, bool micro) {
  const auto time = ParseGoTime(Text(value), micro);
  if (!time || time->IsZero()) return;
  wire::PutInteger(out, 1, time->seconds);
  wire::PutInteger(out, 2, micro ? time->nanos : 0);
}

class ProtobufWriter {
 public:
  explicit ProtobufWriter(std::string& out) : out_(out) {}

  void Object(const json::object& object, const Node& node) { Fields(object, node, node.wire_order, 0); }

 private:
  /// Writes the fields of `order`, which are in the same embedded message at `depth`.
  void Fields(const json::object& object, const Node& node, std::span<const std::uint32_t> order, int depth) {
    const auto embedded = [&](std::uint32_t index) { return node.fields[index].inline_path >> (8 * depth) & 0xff; };
    for (std::size_t i = 0; i < order.size();) {
      const std::uint32_t number = embedded(order[i]);
      if (number == 0) {
        const Field& field = node.fields[order[i++]];
        FieldValue(field, meta::FindField(object, field.name));
        continue;
      }
      std::size_t end = i;
      while (end < order.size() && embedded(order[end]) == number) ++end;
      wire::PutMessage(out_, number, [&] { Fields(object, node, order.subspan(i, end - i), depth + 1); });
      i = end;
    }
  }

  void FieldValue(const Field& field, const json::value* value) {
    const Node& node = *field.schema;
    if (value && value->is_null()) value = nullptr;
    if (node.type == Type::kMap) {
      if (value && value->is_object()) Map(field.number, value->get_object(), *node.items);
    } else if (node.type == Type::kList && node.name.empty()) {
      if (!value || !value->is_array()) return;
      for (const json::value& element : value->get_array()) Value(field.number, &element, *node.items);
    } else if (value || (!field.pointer && node.type != Type::kBytes)) {
      Value(field.number, value, node);
    }
  }

  void Map(std::uint32_t number, const json::object& map, const Node& items) {
    std::vector<const json::key_value_pair*> members;
    members.reserve(map.size());
    for (const auto& member : map) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    for (const auto* member : members) {
      wire::PutMessage(out_, number, [&] {
        wire::PutBytes(out_, 1, member->key());
        Value(2, &member->value(), items);
      });
    }
  }

  /// Writes a value, or the zero value if there is none.
  void Value(std::uint32_t number, const json::value* value, const Node& node) {
    switch (node.type) {
      case Type::kString: wire::PutBytes(out_, number, Text(value)); return;
      case Type::kBoolean: wire::PutInteger(out_, number, value && value->is_bool() && value->get_bool()); return;
      case Type::kInteger: wire::PutInteger(out_, number, value && value->is_int64() ? value->get_int64() : 0); return;
      case Type::kNumber:
        wire::PutDouble(out_, number, value && value->is_number() ? value->to_number<double>() : 0);
        return;
      case Type::kBytes: {
        std::string bytes;
        DecodeBase64(Text(value), bytes);
        wire::PutBytes(out_, number, bytes);
        return;
      }
      case Type::kList:
        if (node.name.empty()) return;  // protobuf cannot represent a list of lists
        [[fallthrough]];
      default: wire::PutMessage(out_, number, [&] { Message(value, node); });
    }
  }

  void Message(const json::value* value, const Node& node) {
    switch (node.type) {
      case Type::kObject: Object(value && value->is_object() ? value->get_object() : kNothing, node); break;
      case Type::kTime: PutTime(out_, value, false); break;
      case Type::kMicroTime: PutTime(out_, value, true); break;
      case Type::kQuantity: wire::PutBytes(out_, 1, value ? Text(value) : "0"); break;
      case Type::kIntOrString:
        wire::PutInteger(out_, 1, value && value->is_string());
        wire::PutInteger(out_, 2, value && value->is_int64() ? value->get_int64() : 0);
        wire::PutBytes(out_, 3, Text(value));
        break;
      case Type::kAny:
      case Type::kFieldsV1:
        if (value && !value->is_null()) wire::PutBytes(out_, 1, WriteJson(*value));
        break;
      case Type::kList:  // a named list: {repeated string items = 1}
        if (!value || !value->is_array()) break;
        for (const json::value& element : value->get_array()) Value(1, &element, *node.items);
        break;
      case Type::kSchemaOrBool:
        // The value is either a boolean or a schema. A schema implies `true`.
        wire::PutInteger(out_, 1, !value || !value->is_bool() || value->get_bool());
        if (value && value->is_object()) Value(2, value, *node.items);
        break;
      case Type::kSchemaOrArray:
      case Type::kSchemaOrStrings:
        if (value && value->is_object()) Value(1, value, *node.items);
        if (value && value->is_array()) {
          for (const json::value& element : value->get_array()) {
            element.is_string() ? wire::PutBytes(out_, 2, element.get_string()) : Value(2, &element, *node.items);
          }
        }
        break;
      default: break;
    }
  }

  std::string& out_;
};

}  // namespace

std::string WriteProtobuf(const json::object& object, const Node& node) {
  std::string out("k8s\0", 4);
  out.reserve(2048);
  wire::PutMessage(out, 1, [&] {
    wire::PutBytes(out, 1, meta::FindString(object, "apiVersion"));
    wire::PutBytes(out, 2, meta::FindString(object, "kind"));
  });
  wire::PutMessage(out, 2, [&] { ProtobufWriter(out).Object(object, node); });
  wire::PutBytes(out, 3, "");
  wire::PutBytes(out, 4, "");
  return out;
}

std::string WriteProtobufWatchFrame(std::string_view type, std::string_view object) {
  std::string out(4, '\0');
  out.reserve(object.size() + 32);
  wire::PutBytes(out, 1, type);
  wire::PutMessage(out, 2, [&] { wire::PutBytes(out, 1, object); });
  const std::size_t size = out.size() - 4;
  for (int i = 0; i < 4; ++i) out[static_cast<std::size_t>(i)] = static_cast<char>(size >> (24 - 8 * i));
  return out;
}

}  // namespace apimesh::codec
