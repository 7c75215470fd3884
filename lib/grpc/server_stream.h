#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/grpc/message.h"
#include "lib/grpc/status.h"
#include "lib/http2/session.h"

namespace apimesh::grpc {

/// The server's end of a gRPC call at the level of the wire protocol: the method, messages and the status. Derived
/// classes determine how a call runs: ServerCall as a coroutine, the store with callbacks.
class ServerStream : public http2::Stream {
 public:
  /// "/package.Service/Method", or the path of a plain HTTP request.
  const std::string& Path() const { return path_; }
  bool Finished() const { return finished_; }

 protected:
  explicit ServerStream(std::size_t max_message_bytes) : message_reader_(max_message_bytes) {}

  void OnHeader(std::string_view name, std::string_view value) override;
  /// Whether the request has gRPC's content type. Valid when the headers are complete.
  bool IsGrpc() const { return is_grpc_; }
  /// Sends a message, preceded by the headers if they are not sent yet. Returns false if the client is gone.
  bool SendMessage(std::span<const SharedBytes> message);
  /// Ends the call: with trailers if messages were sent, otherwise with headers only. Only the first call has an
  /// effect. Returns false if the call was finished before, or the client is gone.
  bool SendStatus(const Status& status);
  /// Sends the headers of the response to a request that is not gRPC. `last`: there is no body; otherwise the caller
  /// may Send() and End().
  void RespondPlain(const http2::Headers& head, bool last);

  MessageReader message_reader_;

 private:
  std::string path_;
  bool is_grpc_ = false;
  bool head_sent_ = false;
  bool finished_ = false;
};

}  // namespace apimesh::grpc
