#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/api_error.h"
#include "lib/meta/query.h"

namespace apimesh::endpoint {

/// The parameters of a URL as values. Errors have the texts of the reference's parameter codec, 400.
class Query {
 public:
  explicit Query(std::string_view raw) : parameters_(raw) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// The first value, or "".
  std::string_view First(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const { return parameters_.All(name); }
  /// Absent: nullopt. "false" and "0" are false, anything else is true.
  std::optional<bool> Bool(std::string_view name) const;
  meta::Result<std::optional<std::int64_t>> Integer(std::string_view name) const;

 private:
  const std::string* Find(std::string_view name) const;
  meta::QueryParameters parameters_;
};

}  // namespace apimesh::endpoint
