#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/selectors/query.h"

namespace apimesh::endpoint {

/// The query parameters of a URL, converted to typed values. Errors are 400 with the messages of kube-apiserver's
/// parameter codec.
class Query {
 public:
  explicit Query(std::string_view raw) : parameters_(raw) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// Returns the first value, or "" if the parameter is absent.
  std::string_view First(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const { return parameters_.All(name); }
  /// Returns nullopt if the parameter is absent. "false" (in any case) and "0" are false, any other value is true.
  std::optional<bool> Bool(std::string_view name) const;
  meta::Result<std::optional<std::int64_t>> Integer(std::string_view name) const;

 private:
  const std::string* Find(std::string_view name) const;
  meta::QueryParameters parameters_;
};

}  // namespace apimesh::endpoint
