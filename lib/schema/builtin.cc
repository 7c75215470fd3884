#include "lib/schema/builtin.h"

#include <stdexcept>
#include <unordered_map>

#include <boost/json/parse.hpp>
#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.pb.h>

#include "proto/k8s/annotations.pb.h"

namespace apimesh::schema {
namespace {

namespace pb = google::protobuf;
using apimesh::k8s::FieldFacts;

Type TypeOf(apimesh::k8s::Shape shape) {
  switch (shape) {
    case apimesh::k8s::OBJECT: return Type::kObject;
    case apimesh::k8s::ANY: return Type::kAny;
    case apimesh::k8s::TIME: return Type::kTime;
    case apimesh::k8s::MICRO_TIME: return Type::kMicroTime;
    case apimesh::k8s::DURATION: return Type::kDuration;
    case apimesh::k8s::QUANTITY: return Type::kQuantity;
    case apimesh::k8s::INT_OR_STRING: return Type::kIntOrString;
    case apimesh::k8s::FIELDS_V1: return Type::kFieldsV1;
    case apimesh::k8s::STRINGS: return Type::kList;
    case apimesh::k8s::SCHEMA_OR_BOOL: return Type::kSchemaOrBool;
    case apimesh::k8s::SCHEMA_OR_ARRAY: return Type::kSchemaOrArray;
    case apimesh::k8s::SCHEMA_OR_STRINGS: return Type::kSchemaOrStrings;
  }
  return Type::kAny;
}

/// Compiles messages to nodes. All named nodes are created first, so that types may refer to each other in any order.
class Compiler {
 public:
  Schema Compile(const pb::FileDescriptorSet& set) {
    for (const pb::FileDescriptorProto& file : set.file()) {
      const std::string& prefix = file.options().GetExtension(apimesh::k8s::definitions);
      if (prefix.empty()) continue;
      for (const pb::DescriptorProto& message : file.message_type()) Declare(file.package(), prefix, message);
    }
    for (auto& [message, node] : declared_) Define(*message, *node);
    for (auto& [message, node] : declared_) ResolveShape(*message, *node);
    schema_.Seal();
    return std::move(schema_);
  }

 private:
  void Declare(const std::string& package, const std::string& prefix, const pb::DescriptorProto& message) {
    Node node;
    node.name = prefix + "." + message.name();
    node.type = TypeOf(message.options().GetExtension(apimesh::k8s::shape));
    if (message.options().GetExtension(apimesh::k8s::atomic)) node.map_type = MapType::kAtomic;
    if (node.type == Type::kTime || node.type == Type::kMicroTime) node.format = "date-time";
    Node* added = schema_.Add(std::move(node));
    declared_.emplace_back(&message, added);
    by_type_["." + package + "." + message.name()] = {&message, added};
    if (message.options().HasExtension(apimesh::k8s::kind)) {
      const apimesh::k8s::Kind& kind = message.options().GetExtension(apimesh::k8s::kind);
      schema_.AddKind({kind.group(), kind.version(), kind.kind()}, added);
    }
  }

  void Define(const pb::DescriptorProto& message, Node& node) {
    if (node.type == Type::kList) node.items = Scalar(Type::kString, "");
    if (node.type != Type::kObject) return;
    node.fields.reserve(message.field_size() + 2);
    if (message.options().GetExtension(apimesh::k8s::type_meta)) {
      for (const char* name : {"kind", "apiVersion"}) {
        Field field;
        field.name = name;
        field.schema = Scalar(Type::kString, "");
        node.fields.push_back(std::move(field));
      }
    }
    AddFields(message, node, 0);
  }

  void AddFields(const pb::DescriptorProto& message, Node& node, std::uint32_t inline_path) {
    for (const pb::FieldDescriptorProto& descriptor : message.field()) {
      const FieldFacts& facts = descriptor.options().GetExtension(apimesh::k8s::field);
      if (facts.inline_()) {
        const auto number = static_cast<std::uint32_t>(descriptor.number());
        if (number > 0xff || inline_path > 0xff) throw std::runtime_error("inline_path is too short for " + node.name);
        const pb::DescriptorProto& embedded = *Lookup(descriptor).first;
        const std::uint32_t path = inline_path == 0 ? number : inline_path | number << 8;
        node.inline_names.emplace_back(
            path, inline_path == 0 ? embedded.name() : node.inline_names.back().second + "." + embedded.name());
        AddFields(embedded, node, path);
        continue;
      }
      Field field;
      field.name = descriptor.json_name();
      field.number = static_cast<std::uint32_t>(descriptor.number());
      field.inline_path = inline_path;
      field.required = facts.required();
      field.always = facts.always();
      field.pointer = facts.pointer();
      field.patch_merge = facts.patch_merge();
      field.patch_replace_keys = facts.patch_retain_keys();
      field.patch_merge_key = facts.merge_key();
      field.go_type = facts.go_type();
      if (facts.has_default_json()) field.default_value = boost::json::parse(facts.default_json());
      field.schema = NodeOfField(message, descriptor, facts);
      node.fields.push_back(std::move(field));
    }
  }

  const Node* NodeOfField(const pb::DescriptorProto& parent, const pb::FieldDescriptorProto& field,
                          const FieldFacts& facts) {
    if (const pb::DescriptorProto* entry = MapEntry(parent, field)) {
      Node map;
      map.type = Type::kMap;
      map.items = NodeOfType(entry->field(1), FieldFacts::default_instance());
      if (facts.atomic()) map.map_type = MapType::kAtomic;
      return schema_.Add(std::move(map));
    }
    if (field.label() != pb::FieldDescriptorProto::LABEL_REPEATED) return NodeOfType(field, facts);
    Node list;
    list.type = Type::kList;
    list.items = NodeOfType(field, facts);
    if (facts.has_list()) {
      list.list_type = facts.list() == apimesh::k8s::MAP   ? ListType::kMap
                       : facts.list() == apimesh::k8s::SET ? ListType::kSet
                                                           : ListType::kAtomic;
    }
    list.list_map_keys.assign(facts.keys().begin(), facts.keys().end());
    return schema_.Add(std::move(list));
  }

  const Node* NodeOfType(const pb::FieldDescriptorProto& field, const FieldFacts& facts) {
    switch (field.type()) {
      case pb::FieldDescriptorProto::TYPE_STRING:
        if (facts.enums_size() > 0) {
          Node text;
          text.type = Type::kString;
          text.format = facts.format();
          text.enums.assign(facts.enums().begin(), facts.enums().end());
          return schema_.Add(std::move(text));
        }
        return Scalar(Type::kString, facts.format());
      case pb::FieldDescriptorProto::TYPE_BYTES: return Scalar(Type::kBytes, "byte");
      case pb::FieldDescriptorProto::TYPE_BOOL: return Scalar(Type::kBoolean, "");
      case pb::FieldDescriptorProto::TYPE_INT32: return Scalar(Type::kInteger, "int32");
      case pb::FieldDescriptorProto::TYPE_INT64: return Scalar(Type::kInteger, "int64");
      case pb::FieldDescriptorProto::TYPE_DOUBLE: return Scalar(Type::kNumber, "double");
      case pb::FieldDescriptorProto::TYPE_MESSAGE: return Reference(field, facts);
      default: throw std::runtime_error("type of field " + field.name());
    }
  }

  /// Returns the node of a message field. A field may declare its object atomic although the type is not, or granular
  /// although the type is atomic; it then refers to a copy of the type.
  const Node* Reference(const pb::FieldDescriptorProto& field, const FieldFacts& facts) {
    const auto [message, node] = Lookup(field);
    const MapType wanted = facts.atomic() ? MapType::kAtomic : MapType::kGranular;
    if (!facts.has_atomic() || node->map_type == wanted) return node;
    auto [it, is_new] = other_map_type_.try_emplace(node, nullptr);
    if (is_new) {
      it->second = schema_.Add(Node(*node));
      if (it->second->fields.empty()) Define(*message, *it->second);
      it->second->map_type = wanted;
    }
    return it->second;
  }

  void ResolveShape(const pb::DescriptorProto& message, Node& node) {
    if (node.type != Type::kSchemaOrBool && node.type != Type::kSchemaOrArray && node.type != Type::kSchemaOrStrings)
      return;
    for (const pb::FieldDescriptorProto& field : message.field()) {
      if (field.type() == pb::FieldDescriptorProto::TYPE_MESSAGE) node.items = Lookup(field).second;
    }
  }

  std::pair<const pb::DescriptorProto*, Node*> Lookup(const pb::FieldDescriptorProto& field) const {
    const auto it = by_type_.find(field.type_name());
    if (it == by_type_.end()) throw std::runtime_error("unknown message " + field.type_name());
    return it->second;
  }

  static const pb::DescriptorProto* MapEntry(const pb::DescriptorProto& parent, const pb::FieldDescriptorProto& field) {
    if (field.type() != pb::FieldDescriptorProto::TYPE_MESSAGE || parent.nested_type_size() == 0) return nullptr;
    const std::string_view name = std::string_view(field.type_name()).substr(field.type_name().rfind('.') + 1);
    for (const pb::DescriptorProto& nested : parent.nested_type()) {
      if (nested.options().map_entry() && nested.name() == name) return &nested;
    }
    return nullptr;
  }

  const Node* Scalar(Type type, const std::string& format) {
    for (const Node* known : scalars_) {
      if (known->type == type && known->format == format) return known;
    }
    Node node;
    node.type = type;
    node.format = format;
    scalars_.push_back(schema_.Add(std::move(node)));
    return scalars_.back();
  }

  Schema schema_;
  std::vector<std::pair<const pb::DescriptorProto*, Node*>> declared_;
  std::unordered_map<std::string, std::pair<const pb::DescriptorProto*, Node*>> by_type_;
  std::unordered_map<const Node*, Node*> other_map_type_;
  std::vector<const Node*> scalars_;
};

}  // namespace

Schema CompileDescriptors(std::string_view descriptor_set) {
  pb::Arena arena;
  auto* set = pb::Arena::CreateMessage<pb::FileDescriptorSet>(&arena);
  if (!set->ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    throw std::runtime_error("the built-in schema is not a FileDescriptorSet");
  }
  return Compiler().Compile(*set);
}

const Schema& Builtin() {
  static const Schema* const schema = new Schema(CompileDescriptors(BuiltinDescriptors()));
  return *schema;
}

}  // namespace apimesh::schema
