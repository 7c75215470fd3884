#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::codec {

/// One clause of an Accept header: "application/json;as=Table;q=0.5".
struct AcceptClause {
  std::string type;
  std::string subtype;
  double q = 1.0;
  std::vector<std::pair<std::string, std::string>> parameters;  // without q
};

/// Returns the clauses of an Accept header, the preferred one first. Clauses that are malformed are left out.
std::vector<AcceptClause> ParseAccept(std::string_view accept);

/// Removes the text before the first `separator` (and the separator) from `text`, and returns it without spaces around
/// it.
std::string_view Cut(std::string_view& text, char separator);

}  // namespace apimesh::codec
