#include "services/core-api/groups/storage/class_rules.h"

#include <algorithm>

#include "lib/base/text/text.h"

namespace apimesh::core_api {
namespace {

constexpr std::size_t kMaxParameters = 512, kMaxParameterBytes = 256 * 1024;

}  // namespace

void ValidateDriver(const Check& root, std::string_view field) {
  if (!root.Require(field)) return;
  const std::string lower = LowerCase(root.Text(field));
  for (std::string& complaint : meta::CheckQualifiedName(lower))
    root.Add(meta::Invalid(root.Path().Child(field).ToString(), meta::Quoted(lower), std::move(complaint)));
}

void ValidateParameters(const Check& root) {
  const std::optional<Check> parameters = root.Child("parameters");
  if (!parameters) return;
  const std::string path = parameters->Path().ToString();
  if (parameters->Object().size() > kMaxParameters) {
    root.Add(meta::TooLong(path, kMaxParameters));
    return;
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : parameters->Object()) {
    if (key.empty()) root.Add(meta::Invalid(path, "\"\"", "field can not be empty."));
    bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
  }
  if (bytes > kMaxParameterBytes) root.Add(meta::TooLong(path, kMaxParameterBytes));
}

}  // namespace apimesh::core_api
