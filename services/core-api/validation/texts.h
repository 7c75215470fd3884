#pragma once

#include <string_view>
#include <vector>

#include "services/core-api/validation/check.h"

/// Lists of texts and maps of texts in documents.
namespace apimesh::core_api {

/// Returns the texts of a list, without items of other types. Returns an empty list if the field is missing.
std::vector<std::string_view> TextsOf(const Check& holder, std::string_view field);
/// Returns the number of items of a list or a map; 0 if the field is missing.
std::size_t SizeOf(const Check& holder, std::string_view field);
/// Adds one error for each message that `rule` returns for the text at a path. An empty text is checked, too.
void CheckText(const Check& holder, const meta::Path& path, std::string_view text, Check::Rule rule);
/// Returns an annotation of an object, or nullptr if it has none.
const meta::json::value* FindAnnotation(const meta::Object& object, std::string_view key);

}  // namespace apimesh::core_api
