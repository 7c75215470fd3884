#pragma once

#include <string>

#include "lib/admission/objects/objects.h"

namespace apimesh::admission::node_restriction {

/// A resource that the plugin reads, in version v1.
struct ReadResource {
  const char* group;
  const char* plural;
  const char* singular;  // for errors: kube-apiserver's listers use the singular name in NotFound
};
inline constexpr ReadResource kPods{"", "pods", "pod"};
inline constexpr ReadResource kNodes{"", "nodes", "node"};
inline constexpr ReadResource kClaims{"", "persistentvolumeclaims", "persistentvolumeclaim"};
inline constexpr ReadResource kVolumes{"", "persistentvolumes", "persistentvolume"};
inline constexpr ReadResource kServiceAccounts{"", "serviceaccounts", "serviceaccount"};
inline constexpr ReadResource kCsiDrivers{"storage.k8s.io", "csidrivers", "csidriver"};

/// Reads objects and returns the errors of kube-apiserver. Thread-safe.
class ClusterReader {
 public:
  explicit ClusterReader(ObjectsPtr objects) : objects_(std::move(objects)) {}

  /// Returns the cached object. If the cache does not have it, reads it from the store, because it may just have been
  /// created. Returns NotFound if it does not exist, also if the name is not a valid object name.
  Task<meta::Result<meta::Object>> Get(meta::RequestContext ctx, ReadResource resource, std::string ns,
                                       std::string name) const;

 private:
  const ObjectsPtr objects_;
};

}  // namespace apimesh::admission::node_restriction
