#pragma once

#include <boost/asio/cancellation_signal.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/suspend.h"
#include "lib/base/task.h"
#include "lib/h2/caller.h"
#include "lib/h2/status.h"
#include "lib/h2/stream.h"

namespace apimesh::h2 {

class ServerCall;
using ServerCallPtr = std::shared_ptr<ServerCall>;

struct UnaryReply {
  Status status;
  Message message;
};
/// Run as coroutines on the connection's executor. A client that goes away cancels what a unary handler waits for; its
/// co_awaits do not throw for that.
using UnaryHandler = std::function<Task<UnaryReply>(ServerCallPtr call, std::string request)>;
/// The call ends with Finish(); a handler that returns without it has not answered.
using StreamHandler = std::function<Task<>(ServerCallPtr call)>;

/// What a server answers: "/package.Service/Method" to its handler.
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

/// The server's end of a call. Used on the connection's executor, on which its handler runs; OnCancel() and Finish()
/// take care of that themselves.
class ServerCall final : public Stream {
 public:
  /// `caller`: who is at the other end and what it may call; nullptr: anything.
  explicit ServerCall(std::shared_ptr<const Methods> methods, std::shared_ptr<const Caller> caller = nullptr)
      : methods_(std::move(methods)), caller_(std::move(caller)) {}

  /// The identity in the caller's certificate; empty on a Unix socket.
  std::string_view CallerIdentity() const { return caller_ ? std::string_view(caller_->identity) : std::string_view(); }

  SteadyTime Deadline() const { return deadline_; }
  /// The next message; nullopt: the client sends no more, or is gone.
  Task<std::optional<std::string>> Read();
  /// Returns when there is room for more; false: the client is gone, or the call is finished.
  Task<bool> Write(Message message);
  void Finish(const Status& status);
  /// Runs once if the client goes away before Finish(), on the connection's executor; at once if it is gone.
  void OnCancel(std::function<void()> callback);
  bool Gone() const { return !IsOpen(); }

 private:
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnHeadersDone(bool last) override;
  bool OnMessage(std::string message) override;
  void OnRemoteEnd() override;
  void OnClosed(std::uint32_t error_code) override;
  void OnRoom() override;
  void Reply(const UnaryReply& reply);
  void SendHead();

  static Task<> RunUnary(ServerCallPtr call, std::string request);
  static Task<> RunStream(ServerCallPtr call);

  const std::shared_ptr<const Methods> methods_;
  const std::shared_ptr<const Caller> caller_;
  const Methods::Method* method_ = nullptr;
  std::string path_, content_type_;
  SteadyTime deadline_ = SteadyTime::max();
  Fifo<std::string> messages_;
  bool remote_ended_ = false;
  bool head_sent_ = false;
  bool finished_ = false;
  bool started_ = false;
  std::optional<Waiter<std::optional<std::string>>> reader_;
  std::optional<Waiter<bool>> writer_;
  std::vector<std::function<void()>> cancelled_;
  boost::asio::cancellation_signal stop_;  // of a unary handler
};

}  // namespace apimesh::h2
