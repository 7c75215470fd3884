#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::websocket {

/// The headers of an upgrade request; empty if they are missing.
struct Handshake {
  std::string_view method, key, version;
};

/// Why a handshake is refused.
struct Refusal {
  int code;
  std::string_view text;
};
/// The only version of the protocol; a refusal names it in the header Sec-WebSocket-Version.
inline constexpr std::string_view kVersion = "13";

/// Returns nullopt if the handshake is valid.
std::optional<Refusal> Check(const Handshake& handshake);

/// Returns the headers of the 101 response. `protocol` is the selected subprotocol; empty: none.
std::vector<std::pair<std::string, std::string>> AnswerHeaders(std::string_view key, std::string_view protocol);

/// Splits the header Sec-WebSocket-Protocol.
std::vector<std::string_view> Subprotocols(std::string_view header);

}  // namespace apimesh::websocket
