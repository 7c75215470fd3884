#pragma once

#include <string>
#include <string_view>

namespace apimesh::h2 {

/// gRPC's form of a status text in a header: printable ASCII as it is, the rest as %XX.
std::string PercentEncode(std::string_view text);
std::string PercentDecode(std::string_view text);

}  // namespace apimesh::h2
