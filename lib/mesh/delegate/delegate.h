#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/request/request_info.h"
#include "lib/meta/request/user.h"

namespace apimesh::mesh::v1 {
/// The phase of a watch that a request asks for; its values are in proto/mesh/v1/delegate.pb.h. It is declared here, so
/// that this header does not include protobuf.
enum WatchPhase : int;
}  // namespace apimesh::mesh::v1

/// The mesh contract (proto/mesh/v1/delegate.proto) as plain C++. gRPC and protobuf are used only inside lib/mesh.
namespace apimesh::mesh {

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
  v1::WatchPhase watch_phase{};
  SteadyTime deadline = SteadyTime::max();  // sent as the deadline of the gRPC call
  /// The stream that is passed to Stream() accepts bytes in revocable memory (lib/base/bytes.h). Not sent to the
  /// server.
  bool accepts_revocable_memory = false;
  /// If set, Call() stores a function there that cancels the call; it is stored before Call() suspends. Not sent to the
  /// server.
  std::function<void()>* cancel = nullptr;
  /// Becomes true when the caller has cancelled the call. It is set only for writes, which check it between their
  /// steps; reads are short. Not sent to the server.
  std::shared_ptr<std::atomic<bool>> gone;

  std::string_view Header(std::string_view name) const;
};

struct Response {
  int code = 200;
  Headers headers;
  /// The body as pieces of shared memory. They are not concatenated before they are written to the socket.
  std::vector<SharedBytes> body;

  static Response Json(int code, std::string body);
  static Response Error(const meta::ApiError& error);

  /// The body as one string.
  std::string Text() const;
};

/// The time between the groups of events of a watch with WATCH_PHASE_GROUPED.
inline constexpr std::chrono::milliseconds kGroupingTime{20};
/// A header of the response to WATCH_PHASE_CATCH_UP: how long the client's watch may last, in milliseconds.
inline constexpr std::string_view kWatchTimeoutHeader = "x-apimesh-watch-timeout";

/// A header of a Stream request: the id of the shared memory segment that the sender can read. Clients cannot send it.
inline constexpr std::string_view kMemoryHeader = "x-apimesh-memory";

/// The resume position of a watch.
struct ResumePosition {
  std::uint64_t revision = 0;  // all events up to this revision have been sent; 0: unknown
  bool bookmark = false;       // the bytes sent with it are a bookmark, not an event
};

/// Receives a streamed response. Write() returns when there is room for more, which provides back-pressure.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual Task<bool> WriteHead(int code, Headers headers) = 0;
  /// Returns false if the reader is gone; the caller must then stop producing.
  virtual Task<bool> Write(std::vector<SharedBytes> pieces) = 0;
  /// The approximate number of bytes that justifies a separate Write().
  virtual std::size_t PieceBytes() const { return 256 << 10; }
  /// Sends a complete response. It is called instead of all other methods when the response turns out to be short.
  virtual Task<bool> WriteComplete(Response response);
  /// Like Write(), for a part of a watch (possibly empty) after which the resume position is known.
  virtual Task<bool> WriteEvents(std::vector<SharedBytes> pieces, ResumePosition) { return Write(std::move(pieces)); }
  /// `callback` runs once when the reader goes away, on any thread; immediately if the reader is already gone.
  virtual void OnCancel(std::function<void()> callback) = 0;
  /// Ends the response early, so that the reader can see that it is incomplete. Write() must not be called afterwards.
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

/// The server's end of Connect, before the server has decided whether to upgrade the connection.
class ConnectStream : public ByteStream {
 public:
  /// Must be called first and exactly once. Code 101 upgrades the connection, and bytes may be exchanged; with any
  /// other code, `head` is the complete response.
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
/// Descriptions share the group-versions that have not changed, so equal pointers mean that nothing has changed.
using GroupVersionPtr = std::shared_ptr<const GroupVersionDescription>;
struct Description {
  std::string etag;
  std::vector<GroupVersionPtr> group_versions;
  std::vector<std::string> paths;
  std::string memory;  // the name of the shared memory segment of the responses (lib/shared_memory); set by the server
};

/// The interface that a server of the chain implements. ServeDelegate() serves it over gRPC.
class DelegateHandler {
 public:
  virtual ~DelegateHandler() = default;
  /// The handler may move members out of `request`. It is passed by reference because it has two dozen strings and
  /// would otherwise be moved a dozen times; it remains valid until the task is done.
  virtual Task<Response> Call(Request&& request) = 0;
  virtual Task<> Stream(Request request, ResponseStream& stream) = 0;
  virtual Task<> Connect(Request request, std::unique_ptr<ConnectStream> stream) = 0;
  /// Calls `changed` when it knows what it serves and after every change, on any thread, until the handle is destroyed.
  virtual std::shared_ptr<void> Describe(std::function<void(Description)> changed) = 0;
};

/// The next server of the chain, seen from the client. Thread-safe. If the server is down, calls fail immediately with
/// 503 and Retry-After instead of waiting for a connection; the client reconnects by itself.
class DelegateClient {
 public:
  virtual ~DelegateClient() = default;
  /// `request` is passed as in DelegateHandler::Call().
  virtual Task<Response> Call(Request&& request) = 0;
  /// Streams the response into `stream`. A failure before the head is written becomes an error response; a later
  /// failure calls `stream.Abort()`.
  virtual Task<> Stream(Request request, ResponseStream& stream) = 0;
  virtual Task<Connection> Connect(Request request) = 0;
  /// Keeps a Describe stream open and reconnects forever. Calls `changed` with each description, and with nullopt when
  /// the connection to the server is lost.
  virtual std::shared_ptr<void> Describe(std::function<void(std::optional<Description>)> changed) = 0;
};

struct Endpoint {
  /// "unix:/path" or "dns:///host:port". Several replicas behind one name are balanced round robin.
  std::string target;
  /// Mesh certificates, for targets that are not Unix sockets; reloaded when they change on disk.
  std::string ca_file, cert_file, key_file;
  /// The identity that the server's certificate must have, for targets that are not Unix sockets (lib/mesh/callers.h).
  std::string identity = {};
};
/// `executor` runs the background work between calls. A call runs on the executor that awaits it, which must belong to
/// an io_context with one thread.
std::unique_ptr<DelegateClient> NewDelegateClient(Endpoint endpoint, boost::asio::any_io_executor executor,
                                                  const Clock& clock);

}  // namespace apimesh::mesh
