#include "lib/endpoint/output/go_format.h"

#include <map>
#include <string_view>
#include <utility>

#include <boost/json/serialize.hpp>

namespace apimesh::endpoint {
namespace json = boost::json;

namespace {

void AppendGoFormat(std::string& out, const json::value& value) {
  if (value.is_string()) {
    out += std::string_view(value.get_string());
  } else if (value.is_null()) {
    out += "<nil>";
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const json::value& one : value.get_array()) {
      if (!std::exchange(first, false)) out += ' ';
      AppendGoFormat(out, one);
    }
    out += ']';
  } else if (value.is_object()) {
    std::map<std::string_view, const json::value*> sorted;
    for (const auto& member : value.get_object()) sorted[member.key()] = &member.value();
    out += "map[";
    bool first = true;
    for (const auto& [key, one] : sorted) {
      if (!std::exchange(first, false)) out += ' ';
      out += key;
      out += ':';
      AppendGoFormat(out, *one);
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string GoFormat(const json::value& value) {
  std::string out;
  AppendGoFormat(out, value);
  return out;
}

}  // namespace apimesh::endpoint
