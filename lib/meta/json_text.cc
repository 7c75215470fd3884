#include "lib/meta/json_text.h"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace apimesh::meta {
namespace {

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != '\x7f';
  });
}

void AppendString(std::string& out, std::string_view text) {
  if (!IsPlain(text)) {
    out += json::serialize(json::string_view(text.data(), text.size()));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace

void AppendJsonText(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::string: return AppendString(out, value.get_string());
    case json::kind::int64: {
      const fmt::format_int digits(value.get_int64());
      out.append(digits.data(), digits.size());
      return;
    }
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; return;
    case json::kind::null: out += "null"; return;
    case json::kind::array: {
      char separator = '[';
      for (const json::value& element : value.get_array()) {
        out += separator;
        AppendJsonText(out, element);
        separator = ',';
      }
      out += separator == '[' ? "[]" : "]";
      return;
    }
    case json::kind::object: {
      char separator = '{';
      for (const auto& [name, member] : value.get_object()) {
        out += separator;
        AppendString(out, name);
        out += ':';
        AppendJsonText(out, member);
        separator = ',';
      }
      out += separator == '{' ? "{}" : "}";
      return;
    }
    default: out += json::serialize(value);
  }
}

}  // namespace apimesh::meta
