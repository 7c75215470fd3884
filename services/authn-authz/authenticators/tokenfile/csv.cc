#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"

namespace apimesh::authn_authz {

meta::Result<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  std::size_t i = 0;
  int line = 1;
  const auto at_line_end = [&] { return i < text.size() && (text[i] == '\n' || text.substr(i, 2) == "\r\n"); };
  const auto bad = [&](std::string_view what) {
    return meta::BadRequest(fmt::format("record on line {}: {}", line, what));
  };
  while (i < text.size()) {
    if (at_line_end()) {
      i += text[i] == '\r' ? 2 : 1;
      ++line;
      continue;
    }
    std::vector<std::string>& record = records.emplace_back();
    while (true) {
      std::string& field = record.emplace_back();
      if (i < text.size() && text[i] == '"') {
        for (++i;; ++i) {
          if (i >= text.size()) return bad("extraneous or missing \" in quoted-field");
          if (text[i] == '\n') ++line;
          if (text[i] != '"') {
            field.push_back(text[i]);
          } else if (i + 1 < text.size() && text[i + 1] == '"') {
            field.push_back(text[++i]);
          } else {
            ++i;
            break;
          }
        }
        if (i < text.size() && text[i] != ',' && !at_line_end()) return bad("extraneous or missing \" in quoted-field");
      } else {
        for (; i < text.size() && text[i] != ',' && !at_line_end(); ++i) {
          if (text[i] == '"') return bad("bare \" in non-quoted-field");
          field.push_back(text[i]);
        }
      }
      if (i >= text.size() || text[i] != ',') break;
      ++i;
    }
    if (i < text.size()) i += text[i] == '\r' ? 2 : 1;
    ++line;
  }
  return records;
}

}  // namespace apimesh::authn_authz
