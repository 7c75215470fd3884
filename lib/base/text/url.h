#pragma once

#include <string>
#include <string_view>

namespace apimesh {

/// Percent-encodes the path of a URL. Slashes and the other characters that a path may contain are unchanged.
std::string EncodePath(std::string_view path);
/// Percent-encodes a name or value of a query. Only letters, digits and "-._~" are unchanged.
std::string EncodeQuery(std::string_view text);

}  // namespace apimesh
