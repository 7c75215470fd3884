#include "lib/endpoint/input/query.h"

#include <charconv>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"

namespace apimesh::endpoint {
const std::string* Query::Find(std::string_view name) const {
  for (const auto& [key, value] : parameters_.Pairs()) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string_view Query::First(std::string_view name) const {
  const std::string* value = Find(name);
  return value ? std::string_view(*value) : std::string_view();
}

std::optional<bool> Query::Bool(std::string_view name) const {
  const std::string* value = Find(name);
  if (!value) return std::nullopt;
  std::string lower = *value;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower != "false" && lower != "0";
}

meta::Result<std::optional<std::int64_t>> Query::Integer(std::string_view name) const {
  const std::string* value = Find(name);
  if (!value) return std::optional<std::int64_t>();
  std::string_view digits = *value;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) {
    return meta::BadRequest(fmt::format("strconv.ParseInt: parsing {}: value out of range", meta::Quoted(*value)));
  }
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    return meta::BadRequest(fmt::format("strconv.ParseInt: parsing {}: invalid syntax", meta::Quoted(*value)));
  }
  return std::optional<std::int64_t>(number);
}

}  // namespace apimesh::endpoint
