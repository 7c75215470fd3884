#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::storage {

using Revision = std::uint64_t;

/// "namespace/name", or "name" for cluster-scoped kinds: a key inside one resource. KeyFor() creates keys. It rejects
/// anything that could leave the resource's prefix, and a namespace for a cluster-scoped kind.
struct Key {
  std::string text;
  auto operator<=>(const Key&) const = default;
};
meta::Result<Key> KeyFor(bool namespaced, std::string_view ns, std::string_view name);

/// Conversions that may suspend, because another server does them (a conversion webhook).
struct SuspendingConversion {
  /// Converts stored JSON, of any version, to JSON of the served version. The result has the same order; an error means
  /// that none of the values is usable.
  std::function<Task<meta::Result<std::vector<std::string>>>(std::vector<std::string> stored)> read;
  /// Converts JSON of the served version, without resourceVersion, to the stored JSON. Empty if the served version is
  /// the stored one.
  std::function<Task<meta::Result<std::string>>(std::string json)> write;
};

/// What the store must know about a resource. registry::Resource provides it; the store knows no kinds.
struct ResourceConfig {
  meta::GroupResource resource;
  std::string key_prefix;  // below --etcd-prefix: "pods", "services/specs", "apps.example.com/widgets"
  bool namespaced = true;
  /// The group under which the resource is stored, if that differs from its own (events.k8s.io). Encryption and etcd
  /// overrides use it.
  std::optional<meta::GroupResource> stored_as;
  const meta::GroupResource& StoredAs() const { return stored_as ? *stored_as : resource; }
  /// apiVersion of the served JSON ("apps/v1"). Stored JSON with this apiVersion is served without conversion. Empty:
  /// all stored JSON is.
  std::string api_version;
  /// The beginning of that JSON with its kind and apiVersion; "" if unknown.
  std::string type_prefix;
  /// Converts a stored value (protobuf of another writer, an older storage version) to JSON of the served version and
  /// applies defaults. Not called for JSON that is already in that version.
  std::function<meta::Result<std::string>(std::string_view stored)> to_json;
  /// apiVersion of the values that this resource stores, and whether they are protobuf. A value that differs in this is
  /// rewritten by the next update, even if the update changes nothing. Empty: all values count as up to date. Not used
  /// with `conversion`, which compares the complete value.
  std::string stored_api_version;
  bool stored_as_protobuf = false;
  /// Converts JSON without resourceVersion to the stored value. Empty: the JSON is stored.
  std::function<meta::Result<std::string>(std::string json)> to_stored;
  /// If set, it is used instead of to_json and to_stored. The cache holds the converted objects, so the conversion runs
  /// once per change of an object and not for reads (docs/decisions/0027).
  std::shared_ptr<const SuspendingConversion> conversion;
  /// Selectable fields besides metadata.name and metadata.namespace. `read_fields` returns their values in the same
  /// order. Without that function a field's name is the path of its value ("spec.nodeName"), which is cheaper because
  /// no document is built.
  std::vector<std::string> selectable_fields;
  /// The values of fields that an object does not have, in the same order; "" for fields after the end of this list.
  std::vector<std::string> field_defaults;
  std::function<std::vector<std::string>(const meta::Object& object)> read_fields;
};

/// One object at one revision. It is immutable, shared and encoded.
class Entry {
 public:
  virtual ~Entry() = default;
  virtual const Key& GetKey() const = 0;
  virtual Revision ModRevision() const = 0;
  /// The complete JSON with its resourceVersion.
  virtual SharedBytes Json() const = 0;
  /// The same bytes; valid while the entry exists.
  virtual std::string_view JsonText() const = 0;
  /// ResourceConfig::type_prefix if the JSON begins with it. "" means unknown.
  virtual std::string_view TypePrefix() const { return {}; }
  /// The part of the JSON that is its metadata. "" means unknown.
  virtual std::string_view MetadataText() const { return {}; }
  virtual const meta::Labels& GetLabels() const = 0;
  virtual std::string_view FieldValue(std::string_view field) const = 0;
  /// Returns another encoding of the object ("protobuf", "table", "metadata", "gzip"). `make` creates it when it is
  /// first requested; it is kept while it is used. Thread-safe.
  virtual SharedBytes Encoded(std::string_view encoding,
                              const std::function<std::string(std::string_view json)>& make) const = 0;
  /// An encoding that contains ages. `make` returns the time until which it is valid; after that time it is called
  /// again.
  struct Timed {
    std::string text;
    WallTime until;
  };
  virtual SharedBytes EncodedAt(WallTime now, std::string_view encoding,
                                const std::function<Timed(std::string_view json)>& make) const = 0;
};
using EntryPtr = std::shared_ptr<const Entry>;

struct GetOptions {
  std::string resource_version;  // "": linearizable; "0": any state; N: not older than N
};

enum class VersionMatch { kUnset, kNotOlderThan, kExact };
struct ListOptions {
  std::string ns;  // empty: all namespaces
  std::string resource_version;
  VersionMatch match = VersionMatch::kUnset;
  std::int64_t limit = 0;
  std::string continue_token;
  meta::LabelSelector labels;
  meta::FieldSelector fields;
};

/// A consistent list at one revision that is read in pieces. It holds a snapshot, not the items.
class ListCursor {
 public:
  virtual ~ListCursor() = default;
  virtual Revision At() const = 0;
  /// Returns the next matching items, at most `max`. Empty: the end of the page or of the list.
  virtual std::vector<EntryPtr> Next(std::size_t max) = 0;
  /// Valid after the end: the token of the next page ("" if there is none), and the number of remaining items. As in
  /// kube-apiserver, the number is known only for lists without selectors.
  virtual std::string ContinueToken() const = 0;
  virtual std::optional<std::int64_t> Remaining() const = 0;
};

struct Event {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type;
  EntryPtr object;  // kAdded, kModified, kDeleted (the last state, at the revision of the deletion)
  Revision revision = 0;
  bool initial_events_end = false;  // kBookmark
  meta::ApiError error;             // kError
};

struct WatchOptions {
  std::string ns;
  /// "": the current state, then events; "0": the same, from any cached state; N: events after N.
  std::string resource_version;
  VersionMatch match = VersionMatch::kUnset;
  /// true: the current state first, then a bookmark that marks its end. false: no current state, even for "".
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  /// Sends a bookmark with initial_events_end after the current state or, if that is not sent, as soon as nothing is
  /// left to send.
  bool mark_initial_events_end = false;
  meta::LabelSelector labels;
  meta::FieldSelector fields;
};

/// Delivers events in order, without losing or repeating any. Destroying it ends the watch.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Returns the next events, at least one. Empty: the watch has ended (the reader was too slow, or the server stops),
  /// and the client resumes it.
  virtual Task<std::vector<Event>> Next() = 0;
  /// Makes a pending Next() return an empty vector. May be called from any thread.
  virtual void Stop() = 0;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

/// The objects of one resource. Only this layer knows that a resourceVersion is an etcd revision. Thread-safe. Every
/// call ends by ctx.Deadline(). A write whose outcome is unknown is read back and never sent again. If that does not
/// show whether it happened, the error is OutcomeUnknown() (lib/storage/etcd_store/errors.h). With any other error,
/// nothing was written.
class Store {
 public:
  virtual ~Store() = default;

  virtual Task<meta::Result<EntryPtr>> Get(meta::RequestContext ctx, Key key, GetOptions options) = 0;
  virtual Task<meta::Result<std::unique_ptr<ListCursor>>> List(meta::RequestContext ctx, ListOptions options) = 0;
  virtual Task<meta::Result<std::unique_ptr<Watcher>>> Watch(meta::RequestContext ctx, WatchOptions options) = 0;

  /// `ttl` 0: the object does not expire.
  virtual Task<meta::Result<EntryPtr>> Create(meta::RequestContext ctx, Key key, meta::Object object,
                                              std::chrono::seconds ttl) = 0;

  /// Runs `update` on the current object until the compare-and-swap succeeds. `current` is nullptr if the object does
  /// not exist and `create_if_missing` is set. `update` may run several times, so it must be pure. It returns the new
  /// object, or nullopt to leave the object unchanged. A result that equals the stored object is not written and keeps
  /// its resourceVersion, unless the stored value is outdated (another storage version or encryption key). The first
  /// attempt uses the cached object. Returns Conflict only if `preconditions` or `update` cause it.
  struct Update {
    meta::Object object;
    std::chrono::seconds ttl{0};
  };
  using UpdateFn = std::function<Task<meta::Result<std::optional<Update>>>(const meta::Object* current)>;
  struct UpdateResult {
    EntryPtr entry;
    bool created = false;
  };
  virtual Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, Key key,
                                                            Preconditions preconditions, bool create_if_missing,
                                                            UpdateFn update) = 0;

  /// Returns the object as a reader would see it after it was written, without writing it: converted to the stored
  /// version and back. For dry runs.
  virtual Task<meta::Result<meta::Object>> AsRead(meta::Object object) { co_return object; }

  /// Deletes the object after `validate` has accepted its current state. `validate` may run several times. Returns the
  /// last state, at the revision of the deletion.
  using ValidateFn = std::function<Task<meta::Result<>>(const meta::Object& current)>;
  virtual Task<meta::Result<EntryPtr>> Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                              ValidateFn validate) = 0;

  /// Deletes an object that cannot be read (lost key, corrupted value) without looking at it: there are no
  /// preconditions, finalizers or admission. Returns Invalid if the object can be read.
  virtual Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, Key key) = 0;

  virtual Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) = 0;
  /// Returns whether reads can be served, that is, whether the cache is filled; 429 with a reason otherwise.
  virtual meta::Result<> Ready() const = 0;
};
using StorePtr = std::shared_ptr<Store>;

/// "" and "0" return 0, other values must be numbers. 400 `Invalid value: "x": …` as in kube-apiserver.
meta::Result<Revision> ParseResourceVersion(std::string_view text);

}  // namespace apimesh::storage
