#include "lib/patch/go_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace apimesh::patch {

namespace json = meta::json;

namespace {

void AppendGoText(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::object: {
      std::vector<const json::key_value_pair*> fields;
      for (const json::key_value_pair& field : value.get_object()) fields.push_back(&field);
      std::sort(fields.begin(), fields.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
      out += "map[";
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) out += ' ';
        out += std::string_view(fields[i]->key());
        out += ':';
        AppendGoText(out, fields[i]->value());
      }
      out += ']';
      break;
    }
    case json::kind::array: {
      out += '[';
      const json::array& list = value.get_array();
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += ' ';
        AppendGoText(out, list[i]);
      }
      out += ']';
      break;
    }
    case json::kind::string: out += std::string_view(value.get_string()); break;
    case json::kind::null: out += "<nil>"; break;
    case json::kind::double_: out += fmt::format("{}", value.get_double()); break;
    default: out += json::serialize(value);
  }
}

}  // namespace

std::string GoText(const json::value& value) {
  std::string out;
  AppendGoText(out, value);
  return out;
}

std::string_view GoTypeOf(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object: return "map[string]interface {}";
    case json::kind::array: return "[]interface {}";
    case json::kind::string: return "string";
    case json::kind::bool_: return "bool";
    case json::kind::double_: return "float64";
    case json::kind::null: return "<nil>";
    default: return "int64";
  }
}

std::string GoTypeName(const schema::Node& node) { return node.name.substr(node.name.rfind('.') + 1); }

}  // namespace apimesh::patch
