#include "services/core-api/connect/websocket/client_socket.h"

#include "lib/websocket/handshake.h"

namespace apimesh::core_api {

std::optional<mesh::Response> RefusedHandshake(const mesh::Request& request) {
  const std::optional<websocket::Refusal> refusal =
      websocket::Check({request.method, request.Header("sec-websocket-key"), request.Header("sec-websocket-version")});
  if (!refusal) return std::nullopt;
  mesh::Response response;
  response.code = refusal->code;
  response.headers = {{"content-type", "text/plain; charset=utf-8"},
                      {"sec-websocket-version", std::string(websocket::kVersion)}};
  response.body.emplace_back(std::string(refusal->text));
  return response;
}

Task<bool> ClientSocket::Accept(mesh::Request request, std::string protocol) {
  mesh::Response response;
  response.code = 101;
  response.headers = websocket::AnswerHeaders(request.Header("sec-websocket-key"), protocol);
  const bool open = co_await stream_.Answer(std::move(response));
  co_return open;
}

Task<std::optional<websocket::Part>> ClientSocket::Next() {
  for (;;) {
    const std::optional<websocket::Part> part = reader_.Next(input_);
    if (!part && !reader_.Error().empty()) {
      co_await Close(websocket::kProtocolError);
      co_return std::nullopt;
    }
    if (!part) {
      meta::Result<std::string> data = co_await stream_.Read();
      if (!data || data->empty()) co_return std::nullopt;
      data_ = std::move(*data);
      input_ = data_;
      continue;
    }
    switch (part->opcode) {
      case websocket::Opcode::kPing: {
        const bool open = co_await writer_.Write(websocket::EncodeFrame(websocket::Opcode::kPong, part->data));
        if (!open) co_return std::nullopt;
        break;
      }
      case websocket::Opcode::kPong: break;
      case websocket::Opcode::kClose: co_return std::nullopt;
      default: co_return part;
    }
  }
}

Task<bool> ClientSocket::Send(std::string_view first, std::string_view second) {
  return writer_.Write(websocket::EncodeFrame(websocket::Opcode::kBinary, first, second));
}

Task<> ClientSocket::Close(std::uint16_t code) {
  if (std::exchange(close_sent_, true)) co_return;
  co_await writer_.Write(websocket::EncodeClose(code));
  stream_.Close();
}

}  // namespace apimesh::core_api
