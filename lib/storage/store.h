#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/meta/request_context.h"
#include "lib/meta/selector.h"

namespace apimesh::storage {

using Revision = std::uint64_t;

/// "namespace/name", or "name" for cluster-scoped kinds: a key inside one resource. Made by KeyFor(), which refuses
/// anything that could leave the resource's prefix, and a namespace for a cluster-scoped kind.
struct Key {
  std::string text;
  auto operator<=>(const Key&) const = default;
};
meta::Result<Key> KeyFor(bool namespaced, std::string_view ns, std::string_view name);

/// What the store must know of a resource. Given by registry::Resource; the store knows no kinds.
struct ResourceConfig {
  meta::GroupResource resource;
  std::string key_prefix;  // below --etcd-prefix: "pods", "services/specs", "apps.example.com/widgets"
  bool namespaced = true;
  /// The group it is stored for, where that is another one (events.k8s.io): what encryption and etcd overrides go by.
  std::optional<meta::GroupResource> stored_as;
  const meta::GroupResource& StoredAs() const { return stored_as ? *stored_as : resource; }
  /// apiVersion of the served JSON ("apps/v1"). Stored JSON that says so is taken as it is; empty: all JSON is.
  std::string api_version;
  /// How that JSON begins, with its kind and apiVersion; "" if that is not known.
  std::string type_prefix;
  /// Turns a stored value into the JSON of the served version (protobuf of another writer, older storage version,
  /// defaulting on read). Not called for JSON that is already in that version.
  std::function<meta::Result<std::string>(std::string_view stored)> to_json;
  /// JSON (without resourceVersion) to what is written; identity if empty.
  std::function<meta::Result<std::string>(std::string json)> to_stored;
  /// Selectable fields besides metadata.name and metadata.namespace, with the function that reads them (same order).
  /// Without the function a field's name is the path of its value ("spec.nodeName"): cheaper, because no document is made.
  std::vector<std::string> selectable_fields;
  /// What a path without a value counts as, in the same order; "" beyond its end.
  std::vector<std::string> field_defaults;
  std::function<std::vector<std::string>(const meta::Object& object)> read_fields;
};

/// One object at one revision: shared, immutable, ready to be sent.
class Entry {
 public:
  virtual ~Entry() = default;
  virtual const Key& GetKey() const = 0;
  virtual Revision ModRevision() const = 0;
  /// The finished JSON, resourceVersion in place.
  virtual SharedBytes Json() const = 0;
  /// The same bytes, for as long as the entry lives.
  virtual std::string_view JsonText() const = 0;
  /// ResourceConfig::type_prefix if the JSON begins with it. "" says nothing.
  virtual std::string_view TypePrefix() const { return {}; }
  /// The part of the JSON that is its metadata. "" says nothing.
  virtual std::string_view MetadataText() const { return {}; }
  virtual const meta::Labels& GetLabels() const = 0;
  virtual std::string_view FieldValue(std::string_view field) const = 0;
  /// Another form of the same object ("protobuf", "table", "metadata", "gzip"), made by `make` at most once and kept
  /// while it is used. Thread-safe.
  virtual SharedBytes Encoded(std::string_view form,
                              const std::function<std::string(std::string_view json)>& make) const = 0;
  /// A form that shows ages: `make` tells from when on it is another one, and is asked again after that.
  struct Timed {
    std::string text;
    WallTime until;
  };
  virtual SharedBytes EncodedAt(WallTime now, std::string_view form,
                                const std::function<Timed(std::string_view json)>& make) const = 0;
};
using EntryPtr = std::shared_ptr<const Entry>;

struct GetOptions {
  std::string resource_version;  // "": linearizable; "0": any; N: not older than N
};

enum class VersionMatch { kUnset, kNotOlderThan, kExact };
struct ListOptions {
  std::string ns;  // empty: all
  std::string resource_version;
  VersionMatch match = VersionMatch::kUnset;
  std::int64_t limit = 0;
  std::string continue_token;
  meta::LabelSelector labels;
  meta::FieldSelector fields;
};

/// A consistent list at one revision, walked piece by piece: it holds a snapshot, not the items.
class ListCursor {
 public:
  virtual ~ListCursor() = default;
  virtual Revision At() const = 0;
  /// The next items that match, at most `max`; empty at the end (of the page or of the list).
  virtual std::vector<EntryPtr> Next(std::size_t max) = 0;
  /// After the end: the token of the next page ("" if there is none) and how many items remain (where the reference
  /// tells: no selector given).
  virtual std::string ContinueToken() const = 0;
  virtual std::optional<std::int64_t> Remaining() const = 0;
};

struct Event {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type;
  EntryPtr object;        // kAdded, kModified, kDeleted (the last state, at the deletion's revision)
  Revision revision = 0;
  bool initial_events_end = false;  // kBookmark
  meta::ApiError error;             // kError
};

struct WatchOptions {
  std::string ns;
  std::string resource_version;  // "": now, after the present state; "0": the same from any state; N: after N
  VersionMatch match = VersionMatch::kUnset;
  /// true: the present state first, then a bookmark that says where it ends. false: no present state, even for "".
  std::optional<bool> send_initial_events;
  bool allow_bookmarks = false;
  /// The end of the present state or, without it, the first moment when nothing is left to send, is told by a bookmark
  /// with initial_events_end.
  bool tell_initial_end = false;
  meta::LabelSelector labels;
  meta::FieldSelector fields;
};

/// Events in order, none lost, none doubled. Destroying it ends the watch.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The next events, at least one. Empty: the watch is over (slow reader, server stops); the client resumes by itself.
  virtual Task<std::vector<Event>> Next() = 0;
  /// Makes a pending Next() return empty. May be called from any thread.
  virtual void Stop() = 0;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

/// Objects of one resource. Only this layer knows that resourceVersion is an etcd revision.
/// Thread-safe. Every call ends by ctx.Deadline(); a write whose outcome is unknown is read back, never sent again.
class Store {
 public:
  virtual ~Store() = default;

  virtual Task<meta::Result<EntryPtr>> Get(meta::RequestContext ctx, Key key, GetOptions options) = 0;
  virtual Task<meta::Result<std::unique_ptr<ListCursor>>> List(meta::RequestContext ctx, ListOptions options) = 0;
  virtual Task<meta::Result<std::unique_ptr<Watcher>>> Watch(meta::RequestContext ctx, WatchOptions options) = 0;

  /// `ttl` 0: for ever.
  virtual Task<meta::Result<EntryPtr>> Create(meta::RequestContext ctx, Key key, meta::Object object,
                                              std::chrono::seconds ttl) = 0;

  /// Runs `update` on the current object until the compare-and-swap wins. `current` is nullptr if there is none and
  /// `create_if_missing`. `update` may run many times, so it must be pure. It returns the new object, or nullopt to
  /// leave things as they are. A result equal to the stored object is not written and keeps its resourceVersion.
  /// The first try uses the cached object. Conflict only if `preconditions` or `update` say so.
  struct Update {
    meta::Object object;
    std::chrono::seconds ttl{0};
  };
  using UpdateFn = std::function<Task<meta::Result<std::optional<Update>>>(const meta::Object* current)>;
  struct UpdateResult {
    EntryPtr entry;
    bool created = false;
  };
  virtual Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                                            bool create_if_missing, UpdateFn update) = 0;

  /// Deletes after `validate` accepted the current object (it may run many times). Gives the last state, at the
  /// deletion's revision.
  using ValidateFn = std::function<Task<meta::Result<>>(const meta::Object& current)>;
  virtual Task<meta::Result<EntryPtr>> Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                              ValidateFn validate) = 0;

  /// Deletes an object that can't be read (a lost key, flipped bits), unseen: no precondition, no finalizer, no admission.
  /// Invalid if it can be read.
  virtual Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, Key key) = 0;

  virtual Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) = 0;
  /// Whether reads can be served (the cache is full); 429 with a reason otherwise.
  virtual meta::Result<> Ready() const = 0;
};
using StorePtr = std::shared_ptr<Store>;

/// "" and "0" are 0; otherwise a number. 400 `Invalid value: "x": …` like the reference.
meta::Result<Revision> ParseResourceVersion(std::string_view text);

}  // namespace apimesh::storage
