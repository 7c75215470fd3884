#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/grpc/message.h"
#include "lib/grpc/status.h"
#include "lib/http/client.h"
#include "lib/net/tls/tls.h"

namespace boost::asio {
class execution_context;
class any_io_executor;
}  // namespace boost::asio

/// gRPC over HTTP/2 with nghttp2 and Asio. It is wire-compatible with other gRPC implementations, and a call costs a
/// fraction of one through gRPC's own library (docs/decisions/0011). A call runs on the thread of the coroutine that
/// makes it, on a connection that belongs to that thread.
namespace apimesh::grpc {

struct ChannelOptions {
  const Clock& clock;
  /// "unix:/path", "host:port" or "dns:///host:port", or several of them separated by commas. Calls are distributed
  /// round robin over all addresses. Names are looked up again every 10 s.
  std::string target;
  bool tls = false;
  net::ClientTlsOptions tls_files;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds keepalive{20'000};
  std::size_t max_message_bytes = kMaxMessageBytes;  // of a received message; a larger one ends the call
  /// If set, it is asked before every connection to an address ("unix:/path" or "ip:port", after names are looked up)
  /// and returns why the address must not be used, or "".
  std::function<std::string(const std::string& address)> refuses = nullptr;
  /// A Unix socket must be served by a process of this process's user.
  bool same_user = false;
  /// Connections, except those to Unix sockets, leave through the dialer of this network, if it has one.
  http::Network network = http::Network::kDirect;
};

struct CallOptions {
  SteadyTime deadline = SteadyTime::max();
  Metadata metadata;
  std::function<void()>* cancel = nullptr;  // for a unary call: receives a function that cancels it from any thread;
                                            // must stay valid until the call ends
};

struct UnaryResult {
  Status status;
  std::string message;
};

class ClientStream;
class Link;

/// An active call. Destroying it cancels the call. One coroutine may read while another writes.
class ClientCall {
 public:
  ClientCall(std::shared_ptr<Link> link, std::shared_ptr<ClientStream> stream);
  ~ClientCall();
  ClientCall(ClientCall&&) noexcept;
  ClientCall& operator=(ClientCall&&) = delete;

  /// The next message; nullopt if the call has ended; Finish() then returns the status. Cancelling a Read cancels the
  /// call.
  Task<std::optional<std::string>> Read();
  /// Returns when there is room for another message; false if the call has ended.
  Task<bool> Write(Message message);
  /// Sends a small message without waiting for room.
  void Post(Message message);
  /// Signals that this side sends no more messages.
  void WritesDone();
  Task<Status> Finish();
  /// May be called from any thread.
  void Cancel();
  /// A function that cancels the call if it is still active. It may be called from any thread.
  std::function<void()> Canceller() const;

 private:
  std::shared_ptr<Link> link_;
  std::shared_ptr<ClientStream> stream_;
};

/// A server, or several replicas of it, seen from a client. Thread-safe. If the server is down, a call fails
/// immediately; the next call tries to connect again.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  static std::shared_ptr<Channel> New(ChannelOptions options);
  ~Channel();

  /// Sends one message and returns the response. Cancelling the coroutine cancels the call.
  Task<UnaryResult> Unary(std::string path, Message request, CallOptions options);
  /// Opens a call with any number of messages in each direction.
  Task<ClientCall> Open(std::string path, CallOptions options);
  /// The same on `executor`, which must belong to an io_context, for code that is not a coroutine.
  ClientCall OpenOn(const boost::asio::any_io_executor& executor, std::string path, CallOptions options);

 private:
  explicit Channel(ChannelOptions options);
  std::shared_ptr<Link> LinkFor(const boost::asio::any_io_executor& executor);

  const std::shared_ptr<const ChannelOptions> options_;
  const std::shared_ptr<net::ClientTls> tls_;
  std::mutex mutex_;
  std::unordered_map<boost::asio::execution_context*, std::weak_ptr<Link>> links_;  // guarded by mutex_
};

}  // namespace apimesh::grpc
