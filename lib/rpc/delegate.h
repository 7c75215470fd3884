#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/request_info.h"
#include "lib/meta/user.h"

/// The mesh contract (proto/mesh/v1/delegate.proto) as plain C++; gRPC and protobuf stay inside lib/rpc.
namespace apimesh::rpc {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct Request {
  std::string cluster;
  std::string method;
  std::string path;
  std::string query;
  Headers headers;
  std::string body;
  meta::UserInfo user;
  meta::RequestInfo info;
  std::string audit_id;
  std::string traceparent;
  std::string remote_address;
  SteadyTime deadline = SteadyTime::max();  // travels as gRPC's own deadline
  /// Where a caller that may lose interest keeps what ends a Call() early; set by the time Call() waits. Does not travel.
  std::function<void()>* cancel = nullptr;
  /// Becomes true when the caller is no longer interested. Set for requests with large bodies only, whose work may wait for
  /// a while. Does not travel.
  std::shared_ptr<std::atomic<bool>> gone;

  std::string_view Header(std::string_view name) const;
};

struct Response {
  int code = 200;
  Headers headers;
  /// The body in pieces, shared with whoever else sends them; not joined before the socket.
  std::vector<SharedBytes> body;
  bool use_stream = false;

  static Response Json(int code, std::string body);
  static Response Error(const meta::ApiError& error);

  /// The pieces of the body as one, for those who read it.
  std::string Text() const;
};

/// A watch on behalf of clients that share it goes through phases, each a request of its own with this header. A client's
/// watch begins with kCatchUp, which ends as soon as nothing is left to send and tells the place; kFollow tells it with
/// every event and has no end; kFarewell is a kCatchUp that ends with a bookmark. No client can send the header.
inline constexpr std::string_view kWatchPhaseHeader = "x-apimesh-watch";
inline constexpr std::string_view kCatchUp = "catch-up", kFollow = "follow", kFarewell = "farewell";
/// In the same header, of a process that watches for itself: events may come in groups, kGroupingTime apart, so that a thousand a second do not wake
/// both processes a thousand times.
inline constexpr std::string_view kGrouped = "grouped";
inline constexpr std::chrono::milliseconds kGroupingTime{20};
/// In the answer to kCatchUp: how long the client's watch may last, in milliseconds.
inline constexpr std::string_view kWatchTimeoutHeader = "x-apimesh-watch-timeout";

/// In a Stream request: the segment that its sender can read. No client can send it either.
inline constexpr std::string_view kMemoryHeader = "x-apimesh-memory";

/// How far a watch is.
struct WatchPlace {
  std::uint64_t revision = 0;  // all events up to here have been sent; 0: not told
  bool bookmark = false;       // what came with it only tells the place
};

/// Where a streamed answer goes. Write() returns when there is room again: that is the back-pressure.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual Task<bool> WriteHead(int code, Headers headers) = 0;
  /// False: the reader is gone; stop producing.
  virtual Task<bool> Write(std::vector<SharedBytes> pieces) = 0;
  /// About how much is worth a Write() of its own.
  virtual std::size_t PieceBytes() const { return 256 << 10; }
  /// An answer that turned out to be short: instead of all of the above.
  virtual Task<bool> WriteWhole(Response response);
  /// The same for a part of a watch (also an empty one) after which its place is known.
  virtual Task<bool> WriteEvents(std::vector<SharedBytes> pieces, WatchPlace) { return Write(std::move(pieces)); }
  /// Pieces may lie in a neighbour's memory from here on, and be taken back: then `intact` is false from that moment. To be asked
  /// on the stream's thread, after bytes were copied and before they are let go; nullptr ends it. False: pieces must be its own.
  virtual bool Guard(std::function<bool()> /*intact*/) { return false; }
  /// Runs once when the reader goes away, from any thread; at once if it is gone already.
  virtual void OnCancel(std::function<void()> callback) = 0;
  /// The answer breaks off here: its reader must see that it is incomplete. No Write() after it.
  virtual void Abort() = 0;
};

/// A two-way byte stream (upgraded connection).
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Task<meta::Result<std::string>> Read() = 0;  // empty: the other side has finished
  virtual Task<bool> Write(std::string data) = 0;
  virtual void Close() = 0;
};

/// The server's end of Connect, before it is known whether the connection is upgraded.
class ConnectStream : public ByteStream {
 public:
  /// First and once: code 101 upgrades, and bytes may flow; anything else is the whole answer.
  virtual Task<bool> Answer(Response head) = 0;
};

/// The client's end of Connect.
struct Connection {
  Response head;
  std::unique_ptr<ByteStream> stream;  // set if and only if head.code is 101
};

struct GroupVersionDescription {
  std::string group;
  std::string version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::string resource_list;
  std::string aggregated_discovery;
  std::string openapi_v3_hash;
  bool operator==(const GroupVersionDescription&) const = default;
};
struct Description {
  std::string etag;
  std::vector<GroupVersionDescription> group_versions;
  std::vector<std::string> paths;
  std::string memory;  // of the segment that answers lie in (lib/segment); filled in by the server
};

/// What a server of the chain implements; lib/rpc serves it over gRPC.
class DelegateHandler {
 public:
  virtual ~DelegateHandler() = default;
  /// The handler may take what it needs out of `request`, which stays where it is until the task is done: it is two dozen strings, and
  /// would move a dozen times on its way.
  virtual Task<Response> Call(Request&& request) = 0;
  virtual Task<> Stream(Request request, ResponseStream& stream) = 0;
  virtual Task<> Connect(Request request, std::unique_ptr<ConnectStream> stream) = 0;
  /// Calls `changed` now and after every change, from any thread, until the returned handle is destroyed.
  virtual std::shared_ptr<void> Describe(std::function<void(Description)> changed) = 0;
};

/// The next server of the chain, seen from the client. Thread-safe. A server that is down gives 503 with Retry-After
/// at once (no waiting for a connection), and is found again by itself.
class DelegateClient {
 public:
  virtual ~DelegateClient() = default;
  /// `request` as for a handler.
  virtual Task<Response> Call(Request&& request) = 0;
  /// Streams the answer into `stream`; a failure before the head is written becomes an error answer there, a later one
  /// its Abort().
  virtual Task<> Stream(Request request, ResponseStream& stream) = 0;
  virtual Task<Connection> Connect(Request request) = 0;
  /// Keeps a Describe stream open, reconnecting for ever; calls `changed` with each description and with nullopt when
  /// the server is lost.
  virtual std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) = 0;
};

struct Endpoint {
  /// "unix:/path" or "dns:///host:port"; several replicas behind one name are balanced round robin.
  std::string target;
  /// Mesh certificates, for targets that are not Unix sockets; reloaded when they change on disk.
  std::string ca_file, cert_file, key_file;
  /// The identity that the server's certificate must have, for targets that are not Unix sockets (lib/rpc/callers.h).
  std::string identity = {};
};
/// `executor` runs what goes on between calls. Calls run where they are awaited: on an io_context with one thread.
std::unique_ptr<DelegateClient> NewDelegateClient(Endpoint endpoint, boost::asio::any_io_executor executor);

}  // namespace apimesh::rpc
