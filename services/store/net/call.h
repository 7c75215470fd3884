#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/grpc/server_stream.h"
#include "services/store/net/status.h"

namespace apimesh::store {

class Call;

/// Implements a gRPC method for one call. It is created when the call arrives and destroyed when the call ends.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// Called for each complete message. The bytes are valid during this call only.
  virtual void OnMessage(std::string_view message) = 0;
  /// Called when the client will send no more messages.
  virtual void OnHalfClose() = 0;
  /// Called when the peer has read enough of the queued messages; see Call::AboveHighWatermark().
  virtual void OnDrained() {}
};

using CallPtr = std::shared_ptr<Call>;

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// The handlers of the requests that connections receive.
struct Routes {
  /// Returns the handler of the gRPC method "/package.Service/Method", or nullptr if it is not implemented.
  std::function<std::unique_ptr<CallHandler>(std::string_view method, const CallPtr& call)> grpc;
  /// Handles plain HTTP GET requests on the same port: /health, /version, /metrics.
  std::function<HttpAnswer(std::string_view path)> http;
  /// A larger message ends its call with RESOURCE_EXHAUSTED.
  std::size_t max_message_bytes = 2 * 1024 * 1024;
};

/// The server side of one gRPC call, which a CallHandler handles, or of a plain GET request on the same port. Must be
/// used on the loop thread only. It may outlive its stream (for example, while a write waits for the disk and the
/// client disconnects); sending then does nothing.
class Call final : public grpc::ServerStream {
 public:
  explicit Call(const Routes& routes) : ServerStream(routes.max_message_bytes), routes_(routes) {}

  void Send(std::string message);
  void Finish(Status status) { SendStatus(status); }

 private:
  void OnHeadersDone(bool last) override;
  void OnData(std::string_view data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnBelowLowWatermark() override;

  bool Running() const { return handler_ && !Finished(); }
  void AnswerHttp();

  const Routes& routes_;
  std::unique_ptr<CallHandler> handler_;
  bool started_ = false;
};

}  // namespace apimesh::store
