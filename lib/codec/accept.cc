#include "lib/codec/accept.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "lib/base/text/trim.h"

namespace apimesh::codec {
namespace {

std::optional<AcceptClause> ParseClause(std::string_view text) {
  AcceptClause clause;
  std::string_view media = Cut(text, ';');
  clause.type = Cut(media, '/');
  clause.subtype = media.empty() && clause.type == "*" ? "*" : std::string(TrimSpace(media));
  if (clause.type.empty() || clause.subtype.empty()) return std::nullopt;
  while (!text.empty()) {
    std::string_view parameter = Cut(text, ';');
    std::string name(Cut(parameter, '='));
    std::string value(TrimSpace(parameter));
    if (name == "q") {
      clause.q = std::strtod(value.c_str(), nullptr);
      if (std::isnan(clause.q)) clause.q = 0;  // NaN cannot be ordered
    } else if (!name.empty()) {
      clause.parameters.emplace_back(std::move(name), std::move(value));
    }
  }
  return clause;
}

}  // namespace

std::string_view Cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return TrimSpace(part);
}

std::vector<AcceptClause> ParseAccept(std::string_view accept) {
  std::vector<AcceptClause> clauses;
  while (!accept.empty()) {
    if (std::optional<AcceptClause> clause = ParseClause(Cut(accept, ','))) clauses.push_back(std::move(*clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(), [](const AcceptClause& a, const AcceptClause& b) {
    if (a.q != b.q) return a.q > b.q;
    if ((a.type == "*") != (b.type == "*")) return b.type == "*";
    return a.subtype != "*" && b.subtype == "*";
  });
  return clauses;
}

}  // namespace apimesh::codec
