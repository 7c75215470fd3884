#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// The JSONPath of printer columns and selectable fields: ".spec.replicas", ".a['b.c']", ".a\.b", ".list[0]",
/// ".list[-1]", ".list[*].x",
/// ".status.conditions[?(@.type=="Ready")].status".
class JsonPath {
 public:
  /// Returns nullopt if the text has another syntax.
  static std::optional<JsonPath> Parse(std::string_view text);

  /// Returns the first match; nullptr if there is none.
  const meta::json::value* First(const meta::json::object& root) const;

  /// Returns the field names with which the path begins, up to the first list.
  std::vector<std::string> LeadingFields() const;

 private:
  struct Field {
    std::string name;
  };
  struct Index {
    std::int64_t index;
  };
  struct All {};
  struct Filter {
    std::vector<std::string> path;
    std::string op;
    meta::json::value operand;
  };
  using Step = std::variant<Field, Index, All, Filter>;

  static std::optional<Step> ParseBracket(std::string_view inside);
  static std::optional<Step> ParseFilter(std::string_view expression);
  static bool Matches(const Filter& filter, const meta::json::value& element);
  const meta::json::value* Walk(const meta::json::value& from, std::size_t step) const;
  std::vector<Step> steps_;
};

}  // namespace apimesh::extensions_api
