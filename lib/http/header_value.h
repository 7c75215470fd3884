#pragma once

#include <string>
#include <string_view>

namespace apimesh::http {

/// What a header may hold: a line break in a value would start a header, or an answer, of its own, and becomes a space.
void AppendHeaderValue(std::string& out, std::string_view value);

/// Whether answers with this code never have a body.
inline bool HasNoBody(int code) { return code < 200 || code == 204 || code == 304; }

/// "Mon, 16 Nov 2026 03:06:26 GMT", made once a second and thread.
std::string_view DateNow();

}  // namespace apimesh::http
