#pragma once

#include <string>
#include <string_view>

namespace apimesh::grpc {

/// gRPC's encoding of a status message in a header: printable ASCII is unchanged, other bytes and "%" become %XX.
std::string PercentEncode(std::string_view text);
std::string PercentDecode(std::string_view text);

}  // namespace apimesh::grpc
