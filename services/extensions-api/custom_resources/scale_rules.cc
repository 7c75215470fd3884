#include "services/extensions-api/custom_resources/scale_rules.h"

#include <limits>

#include <fmt/format.h>

#include "lib/patch/go_text.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

std::string WrongType(std::string_view path, const json::value& value, std::string_view wanted) {
  return fmt::format(".{} accessor error: {} is of the type {}, expected {}", path, patch::GoText(value),
                     patch::GoTypeOf(value), wanted);
}

/// Returns the value at a dotted path; nullptr if there is none. Sets `error` if the path leads through another value
/// than an object.
const json::value* At(const json::object& root, std::string_view path, std::string& error) {
  const json::object* here = &root;
  for (std::size_t start = 0;;) {
    const std::size_t dot = path.find('.', start);
    const json::value* value = meta::FindField(*here, path.substr(start, dot - start));
    if (!value || dot == std::string_view::npos) return value;
    if (value->is_null()) return nullptr;
    if (!value->is_object()) {
      error = WrongType(path.substr(0, path.find('.', dot + 1)), *value, "map[string]interface{}");
      return nullptr;
    }
    here = &value->get_object();
    start = dot + 1;
  }
}

void CheckReplicas(const json::object& root, const std::string& path, meta::FieldErrors& errors) {
  std::string error;
  const json::value* value = At(root, path, error);
  if (value && !value->is_int64()) error = WrongType(path, *value, "int64");
  const std::int64_t number = value && value->is_int64() ? value->get_int64() : 0;
  if (number < 0) error = "should be a non-negative integer";
  if (number > std::numeric_limits<std::int32_t>::max()) error = "should be less than or equal to 2147483647";
  if (!error.empty()) errors.push_back(meta::Invalid("." + path, std::to_string(number), std::move(error)));
}

}  // namespace

void CheckScaleSpec(const json::object& root, const registry::ScalePaths& paths, meta::FieldErrors& errors) {
  CheckReplicas(root, paths.spec_replicas, errors);
}

void CheckScaleStatus(const json::object& root, const registry::ScalePaths& paths, meta::FieldErrors& errors) {
  CheckReplicas(root, paths.status_replicas, errors);
  if (paths.selector.empty()) return;
  std::string error;
  const json::value* value = At(root, paths.selector, error);
  if (value && !value->is_string()) error = WrongType(paths.selector, *value, "string");
  if (!error.empty()) errors.push_back(meta::Invalid("." + paths.selector, "\"\"", std::move(error)));
}

}  // namespace apimesh::extensions_api
