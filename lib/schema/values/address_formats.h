#pragma once

#include <string_view>

namespace apimesh::schema {

/// Returns whether a text is an absolute URI, or an absolute path, that may be the target of an HTTP request.
bool IsRequestUri(std::string_view text);

/// Returns whether a text is one mail address (RFC 5322), with or without a display name: "Barry <barry@example.com>".
bool IsEmailAddress(std::string_view text);

}  // namespace apimesh::schema
