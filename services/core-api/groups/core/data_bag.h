#pragma once

#include <initializer_list>
#include <string_view>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// Code that ConfigMaps and Secrets share: both map keys to data, and can be immutable.
namespace apimesh::core_api {

inline constexpr std::size_t kMaxDataBytes = 1 << 20;

/// Returns the map at `field`, or an empty one.
const meta::json::object& DataBag(const meta::Object& object, std::string_view field);
void CheckDataKey(std::string_view field, std::string_view key, meta::FieldErrors& errors);
/// Returns the number of bytes that a base64 text decodes to.
std::size_t DecodedSize(const meta::json::value& base64);
/// Returns errors if `old` is immutable and the update changes `immutable` or one of `fields`.
meta::FieldErrors CheckImmutable(const meta::Object& object, const meta::Object& old,
                                 std::initializer_list<std::string_view> fields);

}  // namespace apimesh::core_api
