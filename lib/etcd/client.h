#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/base/task.h"

/// A coroutine client of etcd's v3 API. It knows nothing of Kubernetes.
namespace apimesh::etcd {

using Revision = std::int64_t;

struct Error {
  enum class Code {
    kUnknown,
    kUnavailable,       // not sent, or sent and certainly not executed
    kAmbiguous,         // a write was sent and its outcome is unknown: read back, never send again
    kDeadlineExceeded,  // of a read
    kCompacted,
    kFutureRevision,
    kTooLarge,          // request larger than etcd takes
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
  std::string range_end;  // empty: one key. PrefixEnd(key) for all keys with a prefix.
  std::int64_t limit = 0;
  Revision revision = 0;  // 0: newest
  bool count_only = false;
  bool keys_only = false;
  bool serializable = false;
  SteadyTime deadline = SteadyTime::max();
};
struct RangeResult {
  Revision revision = 0;  // of the store, at the time of the answer
  std::vector<KeyValue> kvs;
  bool more = false;
  std::int64_t count = 0;
};

/// One key, compared by its mod revision (0: must not exist). The only transaction the API server needs:
/// one key a revision is part of the contract with other readers of the store.
struct CompareAndSwap {
  std::string key;
  Revision expected_mod_revision = 0;
  bool remove = false;  // delete instead of put
  std::string value;
  std::int64_t lease = 0;
  SteadyTime deadline = SteadyTime::max();
};
struct SwapResult {
  bool swapped = false;
  Revision revision = 0;              // of the write, or of the store where it failed
  std::vector<KeyValue> current;      // where not swapped: the key as it is now, or empty
};

struct WatchEvent {
  bool deleted = false;
  KeyValue kv;        // of a deletion: key and mod_revision
  KeyValue previous;  // if asked for and still there; version 0 otherwise
};
/// All events of one or more whole revisions, in order; or progress only.
struct WatchBatch {
  std::vector<WatchEvent> events;
  Revision revision = 0;  // everything up to here has been delivered
  bool progress = false;  // no events: a progress notification that can be trusted
};
struct WatchOptions {
  std::string key;
  std::string range_end;
  Revision start_revision = 0;  // 0: from now on
  bool previous = false;
  bool progress_notify = true;
  /// A stream of its own: for a watch of old history, whose catching up would hold back the progress notifications of
  /// all others on its stream.
  bool own_stream = false;
};

/// A watch that survives broken streams: it resumes after the last revision delivered, with no event lost or doubled.
/// Destroying it cancels.
class Watch {
 public:
  virtual ~Watch() = default;
  /// The next batch. Errors end the watch: kCompacted (with compact_revision), kCancelled, kPermissionDenied, and
  /// kFutureRevision where the store's revision went back behind what was delivered (restored from a backup).
  virtual Task<Result<WatchBatch>> Next() = 0;
  /// Asks the server for a progress notification on this watch's stream; it comes as a batch.
  /// Does nothing on versions whose notifications may overtake events (see Client::ProgressIsSafe).
  virtual void RequestProgress() = 0;
};

struct Status {
  std::string version;
  std::int64_t db_size = 0;
  std::int64_t db_size_in_use = 0;
  Revision revision = 0;
};

/// Reads are retried on another endpoint within their deadline. Writes are sent once: an unclear outcome is kAmbiguous.
/// Thread-safe; coroutines resume on the executor they were awaited from.
class Client {
 public:
  virtual ~Client() = default;

  virtual Task<Result<RangeResult>> Range(std::string key, RangeOptions options) = 0;
  virtual Task<Result<Revision>> Put(std::string key, std::string value, std::int64_t lease, SteadyTime deadline) = 0;
  virtual Task<Result<SwapResult>> Swap(CompareAndSwap swap) = 0;
  /// Deletes keys of a range; for tools and tests.
  virtual Task<Result<std::int64_t>> DeleteRange(std::string key, std::string range_end, SteadyTime deadline) = 0;
  virtual Task<Result<Revision>> Compact(Revision revision, SteadyTime deadline) = 0;
  virtual std::unique_ptr<Watch> OpenWatch(WatchOptions options) = 0;

  virtual Task<Result<std::int64_t>> GrantLease(std::chrono::seconds ttl, SteadyTime deadline) = 0;
  virtual Task<Result<>> RevokeLease(std::int64_t lease, SteadyTime deadline) = 0;
  virtual Task<Result<>> KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) = 0;  // once
  virtual Task<Result<Status>> GetStatus(SteadyTime deadline) = 0;

  /// Whether every endpoint's version sends progress notifications in order with events (3.4.31, 3.5.13, or newer).
  /// Known after the first successful call.
  virtual bool ProgressIsSafe() const = 0;
};

struct ClientOptions {
  std::vector<std::string> endpoints;  // "http://h:p", "https://h:p", "unix:/path"
  std::string ca_file, cert_file, key_file;  // reloaded when they change on disk
  std::string username, password;
  Duration dial_timeout = std::chrono::seconds(5);
  Duration keepalive = std::chrono::seconds(30);
  /// Where watches run: an io_context's, with one thread. None: the client has a thread of its own for them.
  boost::asio::any_io_executor executor;
};
std::unique_ptr<Client> NewClient(ClientOptions options);

/// The end of the range of all keys that begin with `prefix`.
std::string PrefixEnd(std::string prefix);

}  // namespace apimesh::etcd
