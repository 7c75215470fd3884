#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/store/net/status.h"

namespace apimesh::store {

class Call;

/// What a gRPC method does with one call. Made when the call arrives, destroyed when it is over.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// One whole message; the bytes are valid during the call only.
  virtual void OnMessage(std::string_view message) = 0;
  /// The client will send nothing more.
  virtual void OnHalfClose() = 0;
  /// The peer has read enough of what was queued; see Call::Congested().
  virtual void OnDrained() {}
};

/// The server's side of one gRPC call. Loop thread only. It may outlive its stream (a write waits for the disk while
/// its client goes away); then sending does nothing.
class Call {
 public:
  virtual ~Call() = default;
  virtual void Send(std::string message) = 0;
  virtual void Finish(Status status) = 0;
  /// More is queued than a reader that keeps up would leave; streams should wait for OnDrained().
  virtual bool Congested() const = 0;
  virtual bool Closed() const = 0;
};
using CallPtr = std::shared_ptr<Call>;

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Where connections ask what to do.
struct Routes {
  /// The handler for the gRPC method "/package.Service/Method", or null: unimplemented.
  std::function<std::unique_ptr<CallHandler>(std::string_view method, const CallPtr& call)> grpc;
  /// Plain HTTP GET on the same port: /health, /version, /metrics.
  std::function<HttpAnswer(std::string_view path)> http;
  /// Larger messages end their call.
  std::size_t max_message_bytes = 2 * 1024 * 1024;
};

}  // namespace apimesh::store
