#pragma once

#include <optional>
#include <string_view>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/field_mask.h"
#include "lib/meta/object.h"

/// Reads some fields of a JSON text at a fraction of the cost of the complete document. The text must have been
/// validated before (as cached objects are), because the syntax of skipped parts is not checked.
namespace apimesh::codec {

/// Parses the wanted fields into a document.
meta::Result<meta::json::value> ParseJsonParts(std::string_view text, const meta::FieldMask& wanted,
                                               meta::json::storage_ptr arena);

/// Returns the text of one field of the object `text`, or nullopt if it has no such field or is not an object.
std::optional<std::string_view> RawField(std::string_view text, std::string_view name);

/// Returns the end of the JSON value whose first character is at `at`, or npos if the value is incomplete.
std::size_t SkipJsonValue(std::string_view text, std::size_t at);
/// The same for a string. `at` is the position of its opening quote.
std::size_t SkipJsonString(std::string_view text, std::size_t at);

}  // namespace apimesh::codec
