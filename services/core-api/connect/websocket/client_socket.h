#pragma once

#include <optional>
#include <string>

#include "lib/mesh/delegate/delegate.h"
#include "lib/websocket/frame_reader.h"
#include "services/core-api/connect/websocket/serial_writer.h"

namespace apimesh::core_api {

/// The server's end of a client's WebSocket. One coroutine calls Next(), any others send. All run on one executor.
class ClientSocket {
 public:
  explicit ClientSocket(mesh::ConnectStream& stream) : stream_(stream), writer_(stream) {}

  /// Answers 101. `protocol` is the selected subprotocol.
  Task<bool> Accept(mesh::Request request, std::string protocol);
  /// Returns the next part of a message. Answers pings. Returns nullopt if the client has closed the connection or
  /// broken the protocol.
  Task<std::optional<websocket::Part>> Next();
  /// Sends a binary message with the payload `first` + `second`. Returns false if the client is gone.
  Task<bool> Send(std::string_view first, std::string_view second);
  /// Tells the client that the connection ends, and ends it.
  Task<> Close(std::uint16_t code);
  /// Ends the connection without a message.
  void Abort() { stream_.Close(); }

 private:
  mesh::ConnectStream& stream_;
  SerialWriter<mesh::ConnectStream> writer_;
  websocket::FrameReader reader_;
  std::string data_;        // the bytes that were read last
  std::string_view input_;  // the part of data_ that was not parsed yet
  bool close_sent_ = false;
};

/// Returns why the request is not a valid handshake as a response, or nullopt.
std::optional<mesh::Response> RefusedHandshake(const mesh::Request& request);

}  // namespace apimesh::core_api
