#include "lib/codec/protobuf/openapi_protobuf.h"

#include "lib/codec/codec.h"
#include "lib/codec/protobuf/wire.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

class OpenApiWriter {
 public:
  std::string Take() { return std::move(out_); }

  void Document(const json::object& document) {
    Text(1, document, "swagger");
    if (const json::object* info = ObjectAt(document, "info")) {
      wire::PutMessage(out_, 2, [&] {
        Text(1, *info, "title");
        Text(2, *info, "version");
      });
    }
    if (const json::object* paths = ObjectAt(document, "paths")) {
      wire::PutMessage(out_, 8, [&] { Named(2, *paths, [this](const json::object& item) { PathItem(item); }); });
    }
    if (const json::object* definitions = ObjectAt(document, "definitions")) {
      wire::PutMessage(out_, 9,
                       [&] { Named(1, *definitions, [this](const json::object& schema) { Schema(schema); }); });
    }
    if (const json::object* parameters = ObjectAt(document, "parameters")) {
      wire::PutMessage(out_, 10,
                       [&] { Named(1, *parameters, [this](const json::object& parameter) { Parameter(parameter); }); });
    }
  }

 private:
  static const json::object* ObjectAt(const json::object& object, std::string_view name) {
    const json::value* value = meta::FindField(object, name);
    return value ? value->if_object() : nullptr;
  }

  void Text(std::uint32_t number, const json::object& object, std::string_view name) {
    if (const std::string_view text = meta::FindString(object, name); !text.empty()) wire::PutBytes(out_, number, text);
  }
  void Flag(std::uint32_t number, const json::object& object, std::string_view name) {
    const json::value* value = meta::FindField(object, name);
    if (value && value->is_bool() && value->get_bool()) wire::PutInteger(out_, number, 1);
  }
  void Texts(std::uint32_t number, const json::object& object, std::string_view name) {
    const json::value* value = meta::FindField(object, name);
    if (!value || !value->is_array()) return;
    for (const json::value& one : value->get_array()) {
      if (one.is_string()) wire::PutBytes(out_, number, one.get_string());
    }
  }
  void Number(std::uint32_t number, const json::object& object, std::string_view name, bool whole) {
    const json::value* value = meta::FindField(object, name);
    if (!value || !value->is_number()) return;
    whole ? wire::PutInteger(out_, number, value->to_number<std::int64_t>())
          : wire::PutDouble(out_, number, value->to_number<double>());
  }

  /// Writes {name = 1, value = 2} for each member.
  template <class Write>
  void Named(std::uint32_t number, const json::object& object, Write&& write) {
    for (const auto& member : object) {  // clang 14 (fuzz targets) cannot capture structured bindings
      if (!member.value().is_object()) continue;
      wire::PutMessage(out_, number, [&] {
        wire::PutBytes(out_, 1, member.key());
        wire::PutMessage(out_, 2, [&] { write(member.value().get_object()); });
      });
    }
  }

  /// Writes a value of any type as YAML; JSON is a subset of YAML.
  void Any(std::uint32_t number, const json::value& value) {
    wire::PutMessage(out_, number, [&] { wire::PutBytes(out_, 2, WriteJson(value) + "\n"); });
  }

  void Extensions(std::uint32_t number, const json::object& object) {
    for (const auto& member : object) {
      if (!member.key().starts_with("x-")) continue;
      wire::PutMessage(out_, number, [&] {
        wire::PutBytes(out_, 1, member.key());
        Any(2, member.value());
      });
    }
  }

  void PathItem(const json::object& item) {
    static constexpr std::pair<std::uint32_t, const char*> kMethods[] = {
        {2, "get"}, {3, "put"}, {4, "post"}, {5, "delete"}, {8, "patch"}};
    for (const auto& [number, name] : kMethods) {
      if (const json::object* operation = ObjectAt(item, name))
        wire::PutMessage(out_, number, [&] { Operation(*operation); });
    }
    Parameters(9, item);
    Extensions(10, item);
  }

  void Operation(const json::object& operation) {
    Texts(1, operation, "tags");
    Text(3, operation, "description");
    Text(5, operation, "operationId");
    Texts(6, operation, "produces");
    Texts(7, operation, "consumes");
    Parameters(8, operation);
    if (const json::object* responses = ObjectAt(operation, "responses")) {
      wire::PutMessage(out_, 9, [&] {
        Named(1, *responses,
              [this](const json::object& response) { wire::PutMessage(out_, 1, [&] { Response(response); }); });
      });
    }
    Extensions(13, operation);
  }

  void Response(const json::object& response) {
    Text(1, response, "description");
    if (const json::object* schema = ObjectAt(response, "schema")) {
      wire::PutMessage(out_, 2, [&] { wire::PutMessage(out_, 1, [&] { Schema(*schema); }); });
    }
  }

  void Parameters(std::uint32_t number, const json::object& holder) {
    const json::value* list = meta::FindField(holder, "parameters");
    if (!list || !list->is_array()) return;
    for (const json::value& one : list->get_array()) {
      if (!one.is_object()) continue;
      const json::object& parameter = one.get_object();
      wire::PutMessage(out_, number, [&] {
        if (parameter.contains("$ref")) {
          wire::PutMessage(out_, 2, [&] { Text(1, parameter, "$ref"); });
        } else {
          wire::PutMessage(out_, 1, [&] { Parameter(parameter); });
        }
      });
    }
  }

  void Parameter(const json::object& parameter) {
    const std::string_view in = meta::FindString(parameter, "in");
    if (in == "body") {
      wire::PutMessage(out_, 1, [&] {
        Text(1, parameter, "description");
        Text(2, parameter, "name");
        Text(3, parameter, "in");
        Flag(4, parameter, "required");
        if (const json::object* schema = ObjectAt(parameter, "schema"))
          wire::PutMessage(out_, 5, [&] { Schema(*schema); });
      });
      return;
    }
    // A query parameter has one additional field, so the numbers after it are greater by one than those of a path
    // parameter.
    const std::uint32_t query = in == "query" ? 1 : 0;
    wire::PutMessage(out_, 2, [&] {
      wire::PutMessage(out_, query ? 3 : 4, [&] {
        Flag(1, parameter, "required");
        Text(2, parameter, "in");
        Text(3, parameter, "description");
        Text(4, parameter, "name");
        Text(5 + query, parameter, "type");
        Text(6 + query, parameter, "format");
        Flag(19 + query, parameter, "uniqueItems");
      });
    });
  }

  void Schema(const json::object& schema) {
    Text(1, schema, "$ref");
    Text(2, schema, "format");
    Text(3, schema, "title");
    Text(4, schema, "description");
    if (const json::value* value = meta::FindField(schema, "default")) Any(5, *value);
    Number(6, schema, "multipleOf", false);
    Number(7, schema, "maximum", false);
    Flag(8, schema, "exclusiveMaximum");
    Number(9, schema, "minimum", false);
    Flag(10, schema, "exclusiveMinimum");
    Number(11, schema, "maxLength", true);
    Number(12, schema, "minLength", true);
    Text(13, schema, "pattern");
    Number(14, schema, "maxItems", true);
    Number(15, schema, "minItems", true);
    Flag(16, schema, "uniqueItems");
    Number(17, schema, "maxProperties", true);
    Number(18, schema, "minProperties", true);
    Texts(19, schema, "required");
    if (const json::value* enums = meta::FindField(schema, "enum"); enums && enums->is_array()) {
      for (const json::value& one : enums->get_array()) Any(20, one);
    }
    Children(schema);
    Extensions(31, schema);
  }

  void Children(const json::object& schema) {
    const json::value* additional = meta::FindField(schema, "additionalProperties");
    if (additional && additional->is_object()) {
      wire::PutMessage(out_, 21, [&] { wire::PutMessage(out_, 1, [&] { Schema(additional->get_object()); }); });
    } else if (additional && additional->is_bool()) {
      wire::PutMessage(out_, 21, [&] { wire::PutInteger(out_, 2, additional->get_bool()); });
    }
    if (const std::string_view type = meta::FindString(schema, "type"); !type.empty()) {
      wire::PutMessage(out_, 22, [&] { wire::PutBytes(out_, 1, type); });
    }
    if (const json::object* items = ObjectAt(schema, "items")) {
      wire::PutMessage(out_, 23, [&] { wire::PutMessage(out_, 1, [&] { Schema(*items); }); });
    }
    if (const json::object* properties = ObjectAt(schema, "properties")) {
      wire::PutMessage(out_, 25,
                       [&] { Named(1, *properties, [this](const json::object& property) { Schema(property); }); });
    }
  }

  std::string out_;
};

}  // namespace

std::string WriteOpenApiV2Protobuf(const json::object& document) {
  OpenApiWriter writer;
  writer.Document(document);
  return writer.Take();
}

}  // namespace apimesh::codec
