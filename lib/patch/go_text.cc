#include "lib/patch/go_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace apimesh::patch {

namespace json = meta::json;

std::string GoText(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object: {
      std::vector<std::pair<std::string_view, std::string>> fields;
      for (const auto& [key, one] : value.get_object()) fields.emplace_back(key, GoText(one));
      std::sort(fields.begin(), fields.end());
      std::string out = "map[";
      for (const auto& [key, text] : fields) out += fmt::format("{}{}:{}", out.size() > 4 ? " " : "", key, text);
      return out + "]";
    }
    case json::kind::array: {
      std::string out = "[";
      for (const json::value& one : value.get_array()) out += (out.size() > 1 ? " " : "") + GoText(one);
      return out + "]";
    }
    case json::kind::string: return std::string(value.get_string());
    case json::kind::null: return "<nil>";
    case json::kind::double_: return fmt::format("{}", value.get_double());
    default: return json::serialize(value);
  }
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
