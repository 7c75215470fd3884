#include "lib/cel/schema/schema_types.h"

#include <algorithm>
#include <set>

namespace apimesh::cel {
namespace {

using boost::json::object;
using Kind = Shape::Kind;

constexpr std::uint64_t kRequestBytes = 3 * 1024 * 1024;

std::string_view Text(const object& schema, std::string_view key) {
  const boost::json::value* value = schema.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}
bool Flag(const object& schema, std::string_view key) {
  const boost::json::value* value = schema.if_contains(key);
  return value && value->is_bool() && value->get_bool();
}
const object* Child(const object& schema, std::string_view key) {
  const boost::json::value* value = schema.if_contains(key);
  return value && value->is_object() ? &value->get_object() : nullptr;
}
// A limit such as maxItems; negative ones are 0.
std::optional<std::uint64_t> Limit(const object& schema, std::string_view key) {
  const boost::json::value* value = schema.if_contains(key);
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  return error ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(0, number));
}

ShapeRef Simple(Kind kind, const TypeRef& type, std::uint64_t min_size, std::uint64_t max_elements, bool nullable) {
  Shape out;
  out.kind = kind;
  out.type = type;
  out.min_serialized_size = min_size;
  out.max_elements = max_elements;
  out.nullable = nullable;
  return std::make_shared<const Shape>(std::move(out));
}

std::uint64_t LongestEnum(const object& schema) {
  std::uint64_t longest = 0;
  for (const boost::json::value& value : schema.at("enum").get_array()) {
    if (value.is_string()) longest = std::max<std::uint64_t>(longest, value.get_string().size());
  }
  return longest;
}

ShapeRef TextShape(const object& schema, bool nullable) {
  const std::string_view format = Text(schema, "format");
  const auto limit = Limit(schema, "maxLength");
  if (format == "byte") return Simple(Kind::kBytes, Type::Bytes(), 2, limit.value_or(kRequestBytes - 2), nullable);
  if (format == "duration") return Simple(Kind::kDuration, Type::Duration(), 3, 32, nullable);
  if (format == "date") return Simple(Kind::kDate, Type::Timestamp(), 12, 12, nullable);
  if (format == "date-time") return Simple(Kind::kTimestamp, Type::Timestamp(), 21, 32, nullable);
  std::uint64_t most = kRequestBytes - 2;
  const boost::json::value* values = schema.if_contains("enum");
  if (limit) {
    most = *limit * 4;  // a code point has up to 4 bytes
  } else if (values && values->is_array() && !values->get_array().empty()) {
    most = LongestEnum(schema);
  }
  return Simple(Kind::kString, Type::String(), 2, most, nullable);
}

ShapeRef ListShape(const object& schema, const std::string& name, bool nullable) {
  const object* items = Child(schema, "items");
  if (!items) return nullptr;
  Shape out;
  out.element = ShapeOfSchema(*items, name + ".@idx", Flag(*items, "x-kubernetes-embedded-resource"));
  if (!out.element) return nullptr;
  out.kind = Kind::kList;
  out.type = Type::List(out.element->type);
  out.nullable = nullable;
  out.max_elements = Limit(schema, "maxItems").value_or((kRequestBytes - 2) / (out.element->min_serialized_size + 1));
  const std::string_view type = Text(schema, "x-kubernetes-list-type");
  out.list_type = type == "set"   ? Shape::ListType::kSet
                  : type == "map" ? Shape::ListType::kMap
                                  : Shape::ListType::kAtomic;
  if (const boost::json::value* keys = schema.if_contains("x-kubernetes-list-map-keys"); keys && keys->is_array()) {
    for (const boost::json::value& key : keys->get_array()) {
      if (key.is_string())
        out.list_keys.push_back(EscapeName(key.get_string()).value_or(std::string(key.get_string())));
    }
  }
  return std::make_shared<const Shape>(std::move(out));
}

ShapeRef MapShape(const object& schema, const object& values, const std::string& name, bool nullable) {
  Shape out;
  out.element = ShapeOfSchema(values, name + ".@elem", Flag(values, "x-kubernetes-embedded-resource"));
  if (!out.element) return nullptr;
  out.kind = Kind::kMap;
  out.type = Type::Map(Type::String(), out.element->type);
  out.nullable = nullable;
  out.max_elements =
      Limit(schema, "maxProperties").value_or((kRequestBytes - 2) / (out.element->min_serialized_size + 6));
  return std::make_shared<const Shape>(std::move(out));
}

std::set<std::string_view> Required(const object& schema) {
  std::set<std::string_view> names;
  const boost::json::value* required = schema.if_contains("required");
  if (!required || !required->is_array()) return names;
  for (const boost::json::value& name : required->get_array()) {
    if (name.is_string()) names.insert(std::string_view(name.get_string()));
  }
  return names;
}

void AddField(Shape& out, const std::string& json_name, ShapeRef shape) {
  if (shape && shape->type) {
    if (auto escaped = EscapeName(json_name)) out.fields[*escaped] = {json_name, shape};
  } else {
    shape = Simple(Kind::kHidden, nullptr, 0, 0, true);
  }
  out.fields_by_json_name[json_name] = std::move(shape);
}

const object* Property(const object* schema, std::string_view name, std::string_view type) {
  const object* properties = schema ? Child(*schema, "properties") : nullptr;
  const object* property = properties ? Child(*properties, name) : nullptr;
  return property && Text(*property, "type") == type ? property : nullptr;
}
// Whether the schema of a resource declares all that expressions can see of every resource.
bool DeclaresResource(const object& schema) {
  const object* metadata = Property(&schema, "metadata", "object");
  return Property(&schema, "kind", "string") && Property(&schema, "apiVersion", "string") &&
         Property(metadata, "name", "string") && Property(metadata, "generateName", "string");
}

ShapeRef MetadataShape(const std::string& name, const ShapeRef& text) {
  Shape metadata;
  metadata.kind = Kind::kObject;
  metadata.type = Type::Object(name);
  AddField(metadata, "name", text);
  AddField(metadata, "generateName", text);
  return std::make_shared<const Shape>(std::move(metadata));
}

ShapeRef ObjectShape(const object& schema, const std::string& name, bool root, bool nullable) {
  Shape out;
  out.kind = Kind::kObject;
  out.type = Type::Object(name);
  out.nullable = nullable;
  const std::set<std::string_view> required = Required(schema);
  const auto add = [&](const std::string& json_name, ShapeRef shape, bool has_default) {
    if (shape && !has_default && required.contains(json_name))
      out.min_serialized_size += json_name.size() + shape->min_serialized_size + 4;
    AddField(out, json_name, std::move(shape));
  };
  const bool standard = root && !DeclaresResource(schema);
  const object* properties = Child(schema, "properties");
  for (const auto& [key, value] : properties ? *properties : object()) {
    const std::string json_name(key);
    if (!value.is_object() ||
        (standard && (json_name == "kind" || json_name == "apiVersion" || json_name == "metadata")))
      continue;
    const object& property = value.get_object();
    add(json_name,
        ShapeOfSchema(property, name + "." + EscapeName(json_name).value_or(json_name),
                      Flag(property, "x-kubernetes-embedded-resource")),
        property.if_contains("default") != nullptr);
  }
  if (standard) {
    const ShapeRef text = Simple(Kind::kString, Type::String(), 2, kRequestBytes - 2, false);
    add("kind", text, false);
    add("apiVersion", text, false);
    add("metadata", MetadataShape(name + ".metadata", text), false);
  }
  return std::make_shared<const Shape>(std::move(out));
}

}  // namespace

ShapeRef ShapeOfSchema(const object& schema, const std::string& name, bool root) {
  const bool nullable = Flag(schema, "nullable");
  if (Flag(schema, "x-kubernetes-int-or-string")) {
    const auto limit = Limit(schema, "maxLength");
    return Simple(Kind::kIntOrString, Type::Dyn(), 1, limit ? *limit * 4 : kRequestBytes - 2, nullable);
  }
  const std::string_view type = Text(schema, "type");
  if (type == "array") return ListShape(schema, name, nullable);
  if (type == "object") {
    if (const object* values = Child(schema, "additionalProperties")) return MapShape(schema, *values, name, nullable);
    return ObjectShape(schema, name, root, nullable);
  }
  if (type == "string") return TextShape(schema, nullable);
  if (type == "boolean") return Simple(Kind::kBool, Type::Bool(), 4, 0, nullable);
  if (type == "number") return Simple(Kind::kDouble, Type::Double(), 1, 0, nullable);
  if (type == "integer") return Simple(Kind::kInt, Type::Int(), 1, 0, nullable);
  return nullptr;
}

void ShapeTypes::Add(const ShapeRef& shape) {
  if (!shape) return;
  if (shape->kind == Kind::kObject) shapes_[shape->type->name] = shape;
  Add(shape->element);
  for (const auto& [name, field] : shape->fields) Add(field.shape);
}

const Shape* ShapeTypes::FindShape(std::string_view name) const {
  const auto found = shapes_.find(name);
  return found == shapes_.end() ? nullptr : found->second.get();
}

TypeRef ShapeTypes::FindType(std::string_view name) const {
  const Shape* shape = FindShape(name);
  return shape ? shape->type : nullptr;
}

TypeRef ShapeTypes::FindField(std::string_view type, std::string_view field) const {
  const Shape* shape = FindShape(type);
  if (!shape) return nullptr;
  auto found = shape->fields.find(field);
  // A reserved word can follow a dot, so it need not be escaped there.
  if (found == shape->fields.end()) {
    if (const auto escaped = EscapeName(field); escaped && *escaped == "__" + std::string(field) + "__")
      found = shape->fields.find(*escaped);
  }
  return found == shape->fields.end() ? nullptr : found->second.shape->type;
}

std::optional<SizeRange> ShapeSizes::EstimateSize(std::span<const std::string> path, const Type&) const {
  if (path.empty()) return std::nullopt;
  const auto variable = variables_.find(path[0]);
  const Shape* shape = variable == variables_.end() ? self_.get() : variable->second.get();
  for (const std::string& part : path.subspan(1)) {
    if (!shape) return std::nullopt;
    if (part == "@items" || part == "@values") {
      shape = shape->element.get();
    } else if (part == "@keys") {
      // kube-apiserver assumes that keys of maps are empty.
      return shape->kind == Kind::kMap ? std::optional(SizeRange{0, 0}) : std::nullopt;
    } else {
      const auto field = shape->fields.find(part);
      shape = field == shape->fields.end() ? nullptr : field->second.shape.get();
    }
  }
  return shape ? std::optional(SizeRange{0, shape->max_elements}) : std::nullopt;
}

}  // namespace apimesh::cel
