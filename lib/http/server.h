#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/gzip/accepts.h"
#include "lib/http/refusal.h"
#include "lib/net/peer.h"
#include "lib/net/tls/tls_options.h"

/// An HTTP/1.1 and HTTP/2 server with TLS. Boost.Beast is used only in the .cc files.
namespace apimesh::http {

class BodyBudget;

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case, in the order of the message

/// The head of a request. The body is read by ResponseWriter::ReadBody().
struct Request {
  std::string method;
  std::string target;  // path and query as received, still encoded
  Headers headers;
  std::shared_ptr<const net::Peer> peer;

  std::string_view Header(std::string_view name) const;  // "" if absent
};

/// A connection after an upgrade. It must be used on the connection's executor (the one on which the handler ran). One
/// Read and one Write may be active at the same time.
class RawConnection {
 public:
  virtual ~RawConnection() = default;
  virtual Task<std::string> Read() = 0;  // empty: end of stream
  virtual Task<bool> Write(std::string data) = 0;
  virtual void Close() = 0;
};

/// A part of a chunked response in its wire encoding, made once for all clients that receive it.
class Chunk {
 public:
  explicit Chunk(const std::vector<SharedBytes>& pieces);

  bool empty() const { return body_.empty(); }
  std::string_view Wire() const { return wire_; }
  const SharedBytes& Body() const { return body_; }

 private:
  std::string_view wire_;  // empty without a body, because a chunk of size 0 ends the response
  SharedBytes body_;       // owns the memory of both
};

/// The conditions under which a handler reads a body.
struct BodyTerms {
  SteadyTime deadline = SteadyTime::max();  // Limits::body_timeout applies as well
  std::string owner = {};                   // the user whose share of Limits::bodies is used
};

/// Sends the response to one request, and reads the body of the request. The handler must call exactly one of Send,
/// Start or Upgrade, once, on the executor on which it was called. If the handler ends without a response or throws,
/// the response is a 500. Bytes of a response may be in revocable memory: the response is broken off, and the
/// connection or the HTTP/2 stream ends, if they were revoked before they could be sent.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  /// Whether the request has a body that has not been read.
  virtual bool HasBody() const { return false; }
  /// Whether ReadBody() would return without waiting for the client.
  virtual bool BodyArrived() { return true; }
  /// Reads the body. It may be called at most once, before the response begins. Until then flow control holds the
  /// client back and no "100 Continue" is sent, so that a request can be refused by its head alone. A body that is not
  /// read is skipped if it is short; otherwise the connection is closed after the response.
  virtual Task<BodyResult> ReadBody(BodyTerms terms);
  /// Sends a complete response with Content-Length, or chunked if it is compressed. The header "connection: close"
  /// closes the connection afterwards; an HTTP/2 client is asked with a GOAWAY to use another one. The body is
  /// compressed if the client accepts it, the size is at least Limits::gzip_minimum and the headers have no
  /// Content-Encoding.
  virtual Task<bool> Send(int code, Headers headers, std::vector<SharedBytes> body) = 0;
  /// Begins a chunked response. `compress`: gzip if the client accepts it.
  virtual Task<bool> Start(int code, Headers headers, bool compress) = 0;
  /// Sends the pieces immediately. Returns when there is room for more; false if the client is gone.
  virtual Task<bool> Write(std::vector<SharedBytes> pieces) = 0;
  /// Writes as much as possible without waiting, at a lower cost than Write(). If it returns false, the caller must
  /// call Write() with the chunk's body.
  virtual bool TryWrite(const Chunk& /*chunk*/) { return false; }
  virtual Task<bool> Finish() = 0;
  /// True once the status line was sent; an error response is no longer possible then.
  virtual bool HeadSent() const = 0;
  /// Closes the connection without a proper end of the response, so that the client can see that it is incomplete.
  virtual void Abort() = 0;
  /// Sends a 101 with these headers; afterwards the caller owns the connection. HTTP/2 requests ask for no upgrade.
  virtual Task<std::unique_ptr<RawConnection>> Upgrade(Headers headers) = 0;
  /// `callback` runs once, on the connection's executor, if the client disconnects before the response is finished.
  virtual void OnDisconnect(std::function<void()> callback) = 0;
};

/// Runs on the connection's I/O thread and must not block it.
using Handler = std::function<Task<>(Request request, ResponseWriter& writer)>;

struct Limits {
  std::size_t header_bytes = 1 << 20;
  std::size_t body_bytes = 3 << 20;
  std::chrono::milliseconds handshake_timeout{10'000};  // from the connection to the end of the TLS handshake
  std::size_t handshakes = 1024;  // unfinished ones per thread; a new connection ends the oldest of them
  std::chrono::milliseconds header_timeout{32'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{60'000};    // for a complete body
  std::chrono::milliseconds idle_timeout{90'000};    // between requests, and without progress of a response
  std::shared_ptr<BodyBudget> bodies;                // memory for all bodies; nullptr: no limit
  std::size_t unfinished_head_bytes = 16 << 20;      // incomplete heads and large heads of requests, all together
  std::size_t header_fields = 5000;
  std::size_t connections = 0;  // 0: no limit; see DefaultMaxConnections()
  std::size_t gzip_minimum = gzip::kWorthCompressing;
  RefusalBodyFn refusal_body = &PlainRefusalBody;    // the body of responses with which the server itself refuses a
                                                     // request
  std::function<void()> handshake_failed = nullptr;  // runs after each failed TLS handshake, on any I/O thread
  std::uint32_t http2_streams = 100;                 // requests of one HTTP/2 connection at the same time
  bool http2_from_proxy = false;  // an HTTP/2 connection carries the requests of many clients of a trusted proxy, so
                                  // that limits for the streams of one client do not apply to it
};

struct ServerOptions {
  const Clock& clock;
  std::string address = "127.0.0.1";  // or "unix:/path"
  int port = 0;                       // 0: any free port; see Server::Port()
  bool share_port = false;            // other processes may listen on the same port
  bool tls = true;
  net::ServerTlsOptions tls_options;  // clients can use HTTP/2 if `protocols` contains "h2"
  Limits limits;
  int threads = 1;
};

/// The number of connections that the file descriptor limit allows, minus a reserve for other uses. First raises the
/// soft limit to the hard limit.
std::size_t DefaultMaxConnections();

class Server {
 public:
  virtual ~Server() = default;
  virtual int Port() const = 0;
  /// Stops accepting, closes idle connections, sends GOAWAY on HTTP/2 connections, and returns when the active requests
  /// have finished; after `limit` the remaining connections are closed.
  virtual Task<> Drain(std::chrono::milliseconds limit) = 0;
};
/// Starts listening before it returns; throws std::runtime_error with a clear text if it cannot (port in use, bad
/// certificate).
std::unique_ptr<Server> Listen(ServerOptions options, Handler handler);

}  // namespace apimesh::http
