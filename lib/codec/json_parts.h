#pragma once

#include <optional>
#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/field_mask.h"
#include "lib/meta/object.h"

/// Reading some fields of a JSON text at a fraction of what the whole document costs. For texts that were checked before, as those in
/// the cache: what is not wanted is passed over without a look at its syntax.
namespace apimesh::codec {

/// The wanted fields as a document.
meta::Result<meta::json::value> ParseJsonParts(std::string_view text, const meta::FieldMask& wanted, meta::json::storage_ptr arena);

/// The text of one field of the object that `text` is; nullopt: none, or no object.
std::optional<std::string_view> RawField(std::string_view text, std::string_view name);

/// Where the JSON value that begins at `at` ends (npos: it doesn't). `at` is at its first character.
std::size_t SkipJsonValue(std::string_view text, std::size_t at);
/// The same for a string; `at` is at its opening quote.
std::size_t SkipJsonString(std::string_view text, std::size_t at);

}  // namespace apimesh::codec
