#pragma once

#include <string>
#include <string_view>

#include "lib/base/clock.h"

namespace apimesh::http {

/// Appends a header value. Line breaks become spaces, because they would begin another header or response.
void AppendHeaderValue(std::string& out, std::string_view value);

/// Whether responses with this code never have a body.
inline bool HasNoBody(int code) { return code < 200 || code == 204 || code == 304; }

/// The value of the header Date, "Mon, 16 Nov 2026 03:06:26 GMT", formatted once per second and thread. It is valid
/// until the next call on the same thread.
std::string_view DateText(WallTime time);

}  // namespace apimesh::http
