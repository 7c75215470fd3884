#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/h2/status.h"
#include "lib/h2/stream.h"
#include "lib/http/client.h"
#include "lib/http/tls.h"

namespace boost::asio {
class execution_context;
class any_io_executor;
}  // namespace boost::asio

/// gRPC over HTTP/2 by nghttp2, on Asio: wire-compatible with every other gRPC, at a fraction of the cost of a call
/// (docs/decisions/0011). A call lives on the thread of the coroutine that makes it, with a connection of that thread.
namespace apimesh::h2 {

struct ChannelOptions {
  /// "unix:/path", "host:port" or "dns:///host:port", or several of them with commas in between; calls take turns between
  /// all the addresses behind it. Names are looked up again every 10 s.
  std::string target;
  bool tls = false;
  http::ClientOptions tls_files;  // read again when they change
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds keepalive{20'000};
};

struct CallOptions {
  SteadyTime deadline = SteadyTime::max();
  Metadata metadata;
  std::function<void()>* cancel = nullptr;  // of a unary call: set to what ends it early, from any thread; read while it lasts
};

struct UnaryResult {
  Status status;
  std::string message;
};

class ClientStream;
class Link;

/// A call under way. Destroying it cancels the call. One coroutine may read while another writes.
class ClientCall {
 public:
  ClientCall(std::shared_ptr<Link> link, std::shared_ptr<ClientStream> stream);
  ~ClientCall();
  ClientCall(ClientCall&&) noexcept;
  ClientCall& operator=(ClientCall&&) = delete;

  /// The next message; nullopt: the call has ended, Finish() says how. Cancelling a Read cancels the call.
  Task<std::optional<std::string>> Read();
  /// Returns when there is room for another message; false: the call has ended.
  Task<bool> Write(Message message);
  /// Sends a small message without waiting for room.
  void Post(Message message);
  /// No more messages from us.
  void WritesDone();
  Task<Status> Finish();
  /// From any thread.
  void Cancel();
  /// Cancels the call if it is still there, whoever holds it, from any thread.
  std::function<void()> Canceller() const;

 private:
  std::shared_ptr<Link> link_;
  std::shared_ptr<ClientStream> stream_;
};

/// A server, or several replicas of it, seen from a client. Thread-safe. A server that is down fails a call at once;
/// it is found again by the next call.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  static std::shared_ptr<Channel> New(ChannelOptions options);
  ~Channel();

  /// One message there, one back. Cancelling the coroutine cancels the call.
  Task<UnaryResult> Unary(std::string path, Message request, CallOptions options);
  /// A call with any number of messages each way.
  Task<ClientCall> Open(std::string path, CallOptions options);
  /// The same from `executor`, an io_context's, for code that is no coroutine.
  ClientCall OpenOn(const boost::asio::any_io_executor& executor, std::string path, CallOptions options);

 private:
  explicit Channel(ChannelOptions options);
  std::shared_ptr<Link> LinkFor(const boost::asio::any_io_executor& executor);

  const std::shared_ptr<const ChannelOptions> options_;
  const std::shared_ptr<http::ClientTls> tls_;
  std::mutex mutex_;
  std::unordered_map<boost::asio::execution_context*, std::weak_ptr<Link>> links_;  // guarded by mutex_
};

}  // namespace apimesh::h2
