#pragma once

#include <initializer_list>
#include <string_view>

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

/// What ConfigMaps and Secrets have in common: maps of keys to contents that may be frozen.
namespace apimesh::core_api {

inline constexpr std::size_t kMaxDataBytes = 1 << 20;

/// The map at `field`, or an empty one.
const meta::json::object& DataBag(const meta::Object& object, std::string_view field);
void CheckDataKey(std::string_view field, std::string_view key, meta::FieldErrors& errors);
/// Bytes behind a base64 text.
std::size_t DecodedSize(const meta::json::value& base64);
/// Once `immutable` is set, it stays, and so do `fields`.
meta::FieldErrors CheckImmutable(const meta::Object& object, const meta::Object& old,
                                 std::initializer_list<std::string_view> fields);

}  // namespace apimesh::core_api
