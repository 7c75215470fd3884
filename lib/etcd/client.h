#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/tracing/span.h"

/// A coroutine client of etcd's v3 API. It knows nothing of Kubernetes.
namespace apimesh::etcd {

using Revision = std::int64_t;

struct Error {
  enum class Code {
    kUnknown,
    kUnavailable,       // not sent, or certainly not executed
    kAmbiguous,         // a write was sent and its outcome is unknown: read the key back, never send the write again
    kDeadlineExceeded,  // of a read
    kCompacted,
    kFutureRevision,
    kTooLarge,  // the request is larger than etcd accepts
    kNoSpace,
    kLeaseNotFound,
    kPermissionDenied,
    kCancelled,
    kInvalid,
  };
  Code code = Code::kUnknown;
  std::string message;
  Revision compact_revision = 0;  // kCompacted of a watch
};
template <class T = void>
using Result = boost::system::result<T, Error>;
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

struct RangeOptions {
  std::string range_end;  // empty: one key. Use PrefixEnd(key) for all keys with a prefix.
  std::int64_t limit = 0;
  Revision revision = 0;  // 0: newest
  bool count_only = false;
  bool keys_only = false;
  bool serializable = false;
  SteadyTime deadline = SteadyTime::max();
  tracing::Carrier trace = {};  // of the request on whose behalf etcd is called
};
struct RangeResult {
  Revision revision = 0;  // of the store at the time of the response
  std::vector<KeyValue> kvs;
  bool more = false;
  std::int64_t count = 0;
};

/// Compares the mod revision of one key (0: the key must not exist) and writes it. This is the only transaction that an
/// API server needs: other readers of the store rely on one key per revision.
struct CompareAndSwap {
  std::string key;
  Revision expected_mod_revision = 0;
  bool remove = false;  // delete instead of put
  std::string value;
  std::int64_t lease = 0;
  SteadyTime deadline = SteadyTime::max();
  tracing::Carrier trace = {};
};
struct SwapResult {
  bool swapped = false;
  Revision revision = 0;          // of the write, or of the store if the comparison failed
  std::vector<KeyValue> current;  // if not swapped: the key as it is now, or empty
};

struct WatchEvent {
  bool deleted = false;
  KeyValue kv;        // for a deletion: key and mod_revision only
  KeyValue previous;  // if requested and not compacted; version 0 otherwise
};
/// All events of one or more complete revisions in order, or a progress notification.
struct WatchBatch {
  std::vector<WatchEvent> events;
  Revision revision = 0;  // everything up to here has been delivered
  bool progress = false;  // no events: a progress notification that arrived in order with events
};
struct WatchOptions {
  std::string key;
  std::string range_end;
  Revision start_revision = 0;  // 0: from now on
  bool previous = false;
  bool progress_notify = true;
  /// Uses a separate stream. Meant for a watch of old revisions: while it catches up, etcd sends no progress
  /// notifications to the other watches of its stream.
  bool own_stream = false;
};

/// A watch that survives broken streams. It resumes after the last delivered revision, and no event is lost or
/// delivered twice. Destroying it cancels the watch.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Returns the next batch. An error ends the watch: kCompacted (with compact_revision), kCancelled,
  /// kPermissionDenied, or kFutureRevision if the store's revision is older than a delivered one (etcd was restored
  /// from a backup).
  virtual Task<Result<WatchBatch>> Next() = 0;
  /// Requests a progress notification on this watch's stream; it arrives as a batch. Does nothing on versions whose
  /// notifications may overtake events (see Client::ProgressIsSafe).
  virtual void RequestProgress() = 0;
};

struct Status {
  std::string version;
  std::int64_t db_size = 0;
  std::int64_t db_size_in_use = 0;
  Revision revision = 0;
};

/// Reads are retried on other endpoints within their deadline. A write is sent once; if its outcome is unknown, the
/// error is kAmbiguous. Thread-safe. Coroutines resume on the executor from which they were awaited.
class Client {
 public:
  virtual ~Client() = default;

  virtual Task<Result<RangeResult>> Range(std::string key, RangeOptions options) = 0;
  virtual Task<Result<Revision>> Put(std::string key, std::string value, std::int64_t lease, SteadyTime deadline) = 0;
  virtual Task<Result<SwapResult>> Swap(CompareAndSwap swap) = 0;
  /// Deletes the keys of a range. Used by tools and tests only.
  virtual Task<Result<std::int64_t>> DeleteRange(std::string key, std::string range_end, SteadyTime deadline) = 0;
  virtual Task<Result<Revision>> Compact(Revision revision, SteadyTime deadline) = 0;
  virtual std::unique_ptr<Watch> OpenWatch(WatchOptions options) = 0;

  virtual Task<Result<std::int64_t>> GrantLease(std::chrono::seconds ttl, SteadyTime deadline) = 0;
  virtual Task<Result<>> RevokeLease(std::int64_t lease, SteadyTime deadline) = 0;
  virtual Task<Result<>> KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) = 0;  // sends one keep-alive
  virtual Task<Result<Status>> GetStatus(SteadyTime deadline) = 0;

  /// Whether every endpoint's version sends progress notifications in order with events (3.4.31, 3.5.13, or newer).
  /// Known after the first successful call.
  virtual bool ProgressIsSafe() const = 0;
};

struct ClientOptions {
  const Clock& clock;
  std::vector<std::string> endpoints;        // "http://h:p", "https://h:p", "unix:/path"
  std::string ca_file, cert_file, key_file;  // reloaded when they change on disk
  std::string username, password;
  Duration dial_timeout = std::chrono::seconds(5);
  Duration keepalive = std::chrono::seconds(30);
  /// Runs the watches: the executor of an io_context with one thread. If empty, the client starts its own thread.
  boost::asio::any_io_executor executor;
};
std::unique_ptr<Client> NewClient(ClientOptions options);

/// Returns the end of the range that contains all keys with `prefix`.
std::string PrefixEnd(std::string prefix);

}  // namespace apimesh::etcd
