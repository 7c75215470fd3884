#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "lib/base/async/suspend.h"
#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/grpc/caller.h"
#include "lib/grpc/server_stream.h"
#include "lib/tracing/span_ptr.h"

namespace apimesh::grpc {

class ServerCall;
using ServerCallPtr = std::shared_ptr<ServerCall>;

struct UnaryReply {
  Status status;
  Message message;
};
/// Handlers run as coroutines on the connection's executor. If the client goes away, the operation that a unary handler
/// awaits is cancelled; its co_awaits do not throw.
using UnaryHandler = std::function<Task<UnaryReply>(ServerCallPtr call, std::string request)>;
/// The handler must end the call with Finish(); otherwise the call fails when the handler returns.
using StreamHandler = std::function<Task<>(ServerCallPtr call)>;

/// The handlers of a server by path, "/package.Service/Method".
class Methods {
 public:
  void AddUnary(std::string path, UnaryHandler handler) { methods_[std::move(path)].unary = std::move(handler); }
  void AddStream(std::string path, StreamHandler handler) { methods_[std::move(path)].stream = std::move(handler); }
  /// The names of all services that have a method.
  std::vector<std::string> Services() const;

 private:
  friend class ServerCall;
  struct Method {
    UnaryHandler unary;
    StreamHandler stream;
  };
  std::unordered_map<std::string, Method> methods_;
};

/// The server's end of a call, run by coroutines. It must be used on the connection's executor, on which its handler
/// runs.
class ServerCall final : public ServerStream {
 public:
  /// `executor` belongs to the connection; it must live as long as the stream is open. `caller` is the peer process and
  /// the methods that it may call; nullptr allows all methods.
  ServerCall(const boost::asio::any_io_executor& executor, std::shared_ptr<const Methods> methods, const Clock& clock,
             std::shared_ptr<const Caller> caller = nullptr)
      : ServerStream(kMaxMessageBytes),
        executor_(executor),
        methods_(std::move(methods)),
        clock_(clock),
        caller_(std::move(caller)) {}

  /// The identity in the caller's certificate; empty on a Unix socket.
  std::string_view CallerIdentity() const { return caller_ ? std::string_view(caller_->identity) : std::string_view(); }

  SteadyTime Deadline() const { return deadline_; }
  /// The span of this unary call; nullptr if its caller sent no context of a trace, or tracing is off.
  const tracing::SpanPtr& Span() const { return span_; }
  /// The next message; nullopt if the client sends no more messages, or is gone.
  Task<std::optional<std::string>> Read();
  /// Returns when there is room for more; false if the client is gone, or the call is finished.
  Task<bool> Write(Message message);
  void Finish(const Status& status);
  /// `callback` runs once, on the connection's executor, if the client goes away before Finish(); immediately if it is
  /// already gone.
  void OnCancel(std::function<void()> callback);
  bool Gone() const { return !IsOpen(); }

 private:
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnHeadersDone(bool last) override;
  void OnData(std::string_view data) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnBelowLowWatermark() override;
  void OnMessage(std::string message);
  void Reply(const UnaryReply& reply);

  static Task<> RunUnary(ServerCallPtr call, std::string request);
  static Task<> RunStream(ServerCallPtr call);

  const boost::asio::any_io_executor& executor_;
  const std::shared_ptr<const Methods> methods_;
  const Clock& clock_;
  const std::shared_ptr<const Caller> caller_;
  const Methods::Method* method_ = nullptr;
  SteadyTime deadline_ = SteadyTime::max();
  std::string traceparent_;  // empty if tracing is off
  tracing::SpanPtr span_;
  Fifo<std::string> messages_;
  bool remote_ended_ = false;
  bool started_ = false;
  std::optional<Waiter<std::optional<std::string>>> reader_;
  std::optional<Waiter<bool>> writer_;
  std::vector<std::function<void()>> cancelled_;
  boost::asio::cancellation_signal stop_;  // cancels a unary handler
};

}  // namespace apimesh::grpc
