#include "lib/websocket/handshake.h"

#include <openssl/sha.h>

#include "lib/base/text/base64.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"

namespace apimesh::websocket {
namespace {

constexpr std::string_view kAcceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, section 1.3
constexpr std::size_t kKeyBytes = 16;

std::string AcceptValue(std::string_view key) {
  const std::string text = std::string(key) + std::string(kAcceptSuffix);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return EncodeBase64(std::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

}  // namespace

std::optional<Refusal> Check(const Handshake& handshake) {
  if (handshake.method != "GET") return Refusal{405, "bad method"};
  if (handshake.version != kVersion) return Refusal{400, "missing or bad WebSocket Version"};
  std::string bytes;
  if (DecodeBase64(handshake.key, bytes) || bytes.size() != kKeyBytes)
    return Refusal{400, "mismatch challenge/response"};
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> AnswerHeaders(std::string_view key, std::string_view protocol) {
  std::vector<std::pair<std::string, std::string>> headers{
      {"upgrade", "websocket"}, {"connection", "Upgrade"}, {"sec-websocket-accept", AcceptValue(key)}};
  if (!protocol.empty()) headers.emplace_back("sec-websocket-protocol", protocol);
  return headers;
}

std::vector<std::string_view> Subprotocols(std::string_view header) {
  std::vector<std::string_view> protocols;
  for (std::string_view protocol : Split(header, ',')) {
    protocol = TrimSpace(protocol);
    if (!protocol.empty()) protocols.push_back(protocol);
  }
  return protocols;
}

}  // namespace apimesh::websocket
