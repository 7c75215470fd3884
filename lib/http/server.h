#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/base/task.h"
#include "lib/gzip/accepts.h"
#include "lib/meta/api_error.h"

/// HTTP/1.1 with TLS on Boost.Beast, which stays inside the .cc files.
namespace apimesh::http {

class BodyBudget;

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case, in the order they came

/// What the connection knows of its client.
struct Peer {
  std::string address;  // "ip:port"
  bool tls = false;
  std::vector<std::string> certificates_der;  // leaf first; not yet verified against any CA unless the listener demands it
  std::string sni;
};

/// The head of a request. The body is read by ResponseWriter::ReadBody().
struct Request {
  std::string method;
  std::string target;  // as it came: path and query, still encoded
  Headers headers;
  std::shared_ptr<const Peer> peer;

  std::string_view Header(std::string_view name) const;  // "" if absent
};

/// A connection taken over after an upgrade. Used on the connection's executor only (the one the handler ran on); one
/// Read and one Write may be under way at the same time.
class RawConnection {
 public:
  virtual ~RawConnection() = default;
  virtual Task<std::string> Read() = 0;  // empty: end of stream
  virtual Task<bool> Write(std::string data) = 0;
  virtual void Close() = 0;
};

/// A part of a chunked answer as it goes over the wire: made once for all clients that get the same.
class Chunk {
 public:
  explicit Chunk(const std::vector<SharedBytes>& pieces);

  bool empty() const { return body_.empty(); }
  std::string_view Wire() const { return wire_; }
  const SharedBytes& Body() const { return body_; }

 private:
  std::string_view wire_;  // empty without a body: a chunk of size 0 would be the end
  SharedBytes body_;       // owns both
};

/// What a handler grants a body that it reads.
struct BodyTerms {
  SteadyTime deadline = SteadyTime::max();  // Limits::body_timeout applies as well
  std::string owner = {};                   // the user whose share of Limits::bodies it takes
};

/// The answer to one request, and its body. Exactly one of Send, Start or Upgrade is called, once, on the executor the handler was
/// called on. A handler that ends without an answer gives a 500; one that throws does too.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  /// Whether the request has a body that has not been read.
  virtual bool HasBody() const { return false; }
  /// Whether ReadBody() would return without waiting for the client.
  virtual bool BodyArrived() { return true; }
  /// The body. To be called once at most, and before the answer begins. Until then the client is held back by flow
  /// control and gets no "100 Continue", so that a request can be refused by its head alone. A body that nobody reads is
  /// skipped if it is short; otherwise the connection ends with the answer.
  /// Errors: 413 beyond Limits::body_bytes, 429 without memory, 504 when its time is up, 400 if it is malformed.
  virtual Task<meta::Result<std::string>> ReadBody(BodyTerms terms);
  /// A whole answer; Content-Length is set (a compressed one is chunked). "connection: close" among the headers closes
  /// the connection afterwards. Compressed if the client asked and it is worth it (see Limits::gzip_minimum)
  /// and no Content-Encoding is among the headers.
  virtual Task<bool> Send(int code, Headers headers, std::vector<SharedBytes> body) = 0;
  /// A chunked answer. `compress`: gzip if the client asked for it.
  virtual Task<bool> Start(int code, Headers headers, bool compress) = 0;
  /// Goes out at once. Returns when there is room for more; false: the client is gone.
  virtual Task<bool> Write(std::vector<SharedBytes> pieces) = 0;
  /// As much of Write() as can be done without waiting, at less cost. False: Write() must follow, with the chunk's body.
  virtual bool TryWrite(const Chunk& /*chunk*/) { return false; }
  virtual Task<bool> Finish() = 0;
  /// Whoever lent the bytes that Write() is given from here on may take them back: `intact` is asked once they have been
  /// copied, before any of them leaves, and false cuts the connection. nullptr ends that. False: not possible here.
  virtual bool Guard(std::function<bool()> /*intact*/) { return false; }
  /// True once a status line has gone out: it is too late to answer with an error.
  virtual bool HeadSent() const = 0;
  /// Ends the connection without a clean end of the answer: the client sees that it is incomplete.
  virtual void Abort() = 0;
  /// 101 with these headers; the connection is the caller's from then on.
  virtual Task<std::unique_ptr<RawConnection>> Upgrade(Headers headers) = 0;
  /// Runs once if the client goes away before the answer is finished, from the connection's executor.
  virtual void OnDisconnect(std::function<void()> callback) = 0;
};

/// Runs on the connection's own io thread; it must not block it.
using Handler = std::function<Task<>(Request request, ResponseWriter& writer)>;

struct Limits {
  std::size_t header_bytes = 1 << 20;
  std::size_t body_bytes = 3 << 20;
  std::chrono::milliseconds handshake_timeout{10'000};  // from the connection to the end of the TLS handshake
  std::size_t handshakes = 1024;                        // unfinished ones of one thread; a new connection ends the oldest of them
  std::chrono::milliseconds header_timeout{32'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{60'000};    // of a whole body
  std::chrono::milliseconds idle_timeout{90'000};    // between requests, and without progress of an answer
  std::shared_ptr<BodyBudget> bodies;                // memory for all bodies; nullptr: no limit
  std::size_t unfinished_head_bytes = 16 << 20;      // of all connections together
  std::size_t header_fields = 5000;
  std::size_t connections = 0;                       // 0: no limit; see DefaultMaxConnections()
  std::size_t gzip_minimum = gzip::kWorthCompressing;
};

struct TlsOptions {
  std::string cert_file, key_file;           // reloaded when they change on disk
  struct Sni {
    std::string cert_file, key_file;
    std::vector<std::string> names;          // empty: those of the certificate
  };
  std::vector<Sni> sni;
  enum class ClientCertificate { kNone, kRequest, kRequire };
  ClientCertificate client_certificate = ClientCertificate::kRequest;
  std::vector<std::string> client_ca_files;  // names sent to clients; verified against only with kRequire
  std::vector<std::string> client_uris;      // with kRequire: the certificate has one of these as a subject alternative name
  std::string min_version;                   // VersionTLS12 (default), VersionTLS13
  std::vector<std::string> cipher_suites;    // Go names; empty: the library's defaults
  std::string protocol = "http/1.1";         // for ALPN
  std::uint64_t records_per_key = std::uint64_t{1} << 24;  // written ones; then a KeyUpdate (TLS 1.3) or the end (TLS 1.2)
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // or "unix:/path"
  int port = 0;                       // 0: any free port; see Server::Port()
  bool tls = true;
  TlsOptions tls_options;
  Limits limits;
  int threads = 1;
};

/// What the limit of file descriptors allows, with some left for other uses. Raises the soft limit to the hard limit first.
std::size_t DefaultMaxConnections();

class Server {
 public:
  virtual ~Server() = default;
  virtual int Port() const = 0;
  /// Stops accepting, lets running requests finish (idle connections are closed), then returns; after `limit` the rest
  /// is cut.
  virtual Task<> Drain(std::chrono::milliseconds limit) = 0;
};
/// Listens at once; throws std::runtime_error with a clear text if it can't (port taken, bad certificate).
std::unique_ptr<Server> Listen(ServerOptions options, Handler handler);

}  // namespace apimesh::http
