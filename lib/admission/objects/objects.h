#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/gvk.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::admission {

/// An object that plugins read. Shared and immutable.
using ObjectPtr = std::shared_ptr<const meta::Object>;

/// The consistency of a read.
enum class Read {
  kCached,            // the cached state, which may be slightly behind the store
  kNewest,            // the state in the store; costs a request to it
  kCachedElseNewest,  // the cached object or, if the cache has none, the state in the store
};

/// One change of a resource, as Subscribe() reports it.
struct Change {
  enum class Type { kSet, kRemoved };
  Type type;
  ObjectPtr object;  // the new state, or the last known state of a removed object
};

/// A subscription, which ends when this object is destroyed.
class Subscription {
 public:
  virtual ~Subscription() = default;
  /// Returns whether all objects that existed when the subscription began have been reported.
  virtual bool Synced() const = 0;
};

/// Reads objects of any resource of the cluster: from the cache of this process, or from a cache that a watch of a peer
/// process keeps up to date. Such a watch is opened when its resource is first read. A resource is identified by group,
/// version and plural; `ns` is empty for cluster-scoped resources. Thread-safe.
class Objects {
 public:
  virtual ~Objects() = default;

  /// Returns NotFound if the object does not exist, also if the name is not a valid object name.
  virtual Task<meta::Result<ObjectPtr>> Get(meta::RequestContext ctx, meta::Gvr resource, std::string ns,
                                            std::string name, Read read = Read::kCached) = 0;
  /// Returns the objects that match `labels` in a namespace, or in all namespaces if `ns` is empty. kCachedElseNewest
  /// is the same as kCached.
  virtual Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext ctx, meta::Gvr resource, std::string ns,
                                                          meta::LabelSelector labels = {},
                                                          Read read = Read::kCached) = 0;
  /// Reports all objects of a resource and then every change, in order, until the subscription is destroyed. `changed`
  /// may be called on any thread, but never concurrently. It must return quickly and must not call this class.
  virtual std::unique_ptr<Subscription> Subscribe(const meta::Gvr& resource,
                                                  std::function<void(const Change& change)> changed) = 0;
};
using ObjectsPtr = std::shared_ptr<Objects>;

}  // namespace apimesh::admission
