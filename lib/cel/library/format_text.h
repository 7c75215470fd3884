#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// A clause of a format string: "%.3f".
struct FormatClause {
  char verb = 's';  // s, d, f, e, b, x, X, o
  std::optional<std::int64_t> precision;
};

/// Reads a format string and calls `insert` for each clause with the number of its argument. `insert` appends to the
/// text, or returns false after setting `error`. Returns false on an error.
using InsertClause = std::function<bool(const FormatClause&, std::size_t index, std::string& out, std::string& error)>;
bool ReadFormat(std::string_view format, std::size_t arguments, bool lazy, const InsertClause& insert, std::string& out,
                std::string& error);

/// "text %s".format([arguments])
bool FormatText(std::string_view format, const Value& arguments, Arena& arena, std::string& out, std::string& error);

/// Why an argument of a type does not fit a clause.
std::string WrongArgument(char verb, std::string_view type);

}  // namespace apimesh::cel
