#include "lib/endpoint/go_format.h"

#include <boost/json/serialize.hpp>

#include <map>

namespace apimesh::endpoint {
namespace json = boost::json;

std::string GoFormat(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_null()) return "<nil>";
  if (value.is_array()) {
    std::string out = "[";
    for (const json::value& one : value.get_array()) {
      if (out.size() > 1) out += ' ';
      out += GoFormat(one);
    }
    return out + "]";
  }
  if (!value.is_object()) return json::serialize(value);
  std::map<std::string, const json::value*> sorted;
  for (const auto& member : value.get_object()) sorted[std::string(member.key())] = &member.value();
  std::string out = "map[";
  for (const auto& [key, one] : sorted) {
    if (out.size() > 4) out += ' ';
    out += key + ":" + GoFormat(*one);
  }
  return out + "]";
}

}  // namespace apimesh::endpoint
