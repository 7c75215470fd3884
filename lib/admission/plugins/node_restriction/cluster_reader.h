#pragma once

#include <functional>
#include <string>

#include "lib/meta/object.h"
#include "lib/storage/store.h"

namespace apimesh::admission::node_restriction {

/// A resource that the plugin reads.
struct ReadResource {
  const char* group;
  const char* plural;
  const char* singular;  // for errors: the reference reads from listers, whose "not found" has the singular name
  bool namespaced;
};
inline constexpr ReadResource kPods{"", "pods", "pod", true};
inline constexpr ReadResource kNodes{"", "nodes", "node", false};
inline constexpr ReadResource kClaims{"", "persistentvolumeclaims", "persistentvolumeclaim", true};
inline constexpr ReadResource kVolumes{"", "persistentvolumes", "persistentvolume", false};
inline constexpr ReadResource kCsiDrivers{"storage.k8s.io", "csidrivers", "csidriver", false};

/// Reads objects of any resource of the server. Thread-safe.
class ClusterReader {
 public:
  using FindStore = std::function<storage::StorePtr(const meta::GroupResource& resource)>;
  explicit ClusterReader(FindStore find_store) : find_store_(std::move(find_store)) {}

  /// The cached object. An object that the cache does not have is looked for in the store, since it may just have been
  /// created. NotFound if it does not exist, and also if the name cannot be that of an object.
  Task<meta::Result<meta::Object>> Get(meta::RequestContext ctx, ReadResource resource, std::string ns,
                                       std::string name) const;

 private:
  const FindStore find_store_;
};

}  // namespace apimesh::admission::node_restriction
