#pragma once

#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/json/object.hpp>

namespace apimesh::authn_authz {

enum class GraphKind {
  kSecret,
  kConfigMap,
  kServiceAccount,
  kPersistentVolumeClaim,
  kResourceClaim,
  kPod,
  kPersistentVolume,
  kVolumeAttachment,
  kResourceSlice,
  kPodCertificateRequest
};

/// The objects that a node may read because its pods use them:
///   secret, config map, service account, claim -> pod -> node;  secret -> volume -> claim;
///   attachment, slice, certificate request -> node.
/// Updated by the watches. Thread-safe.
class NodeGraph {
 public:
  /// Ignores a pod that is not assigned to a node.
  void SetPod(const boost::json::object& pod);
  void SetPersistentVolume(const boost::json::object& volume);
  /// For the kinds of objects that name a node in spec.nodeName: attachments, slices, certificate requests.
  void SetObjectOfNode(GraphKind kind, const boost::json::object& object);
  void Remove(GraphKind kind, const std::string& ns, const std::string& name);

  bool Reaches(GraphKind kind, const std::string& ns, const std::string& name, const std::string& node) const;
  /// Returns {namespace, name} of the objects that were added by one of the Set functions.
  std::vector<std::pair<std::string, std::string>> Names(GraphKind kind) const;

 private:
  struct Vertex {
    std::string node;                  // of pods and of objects that name a node
    std::vector<std::string> used_by;  // keys of the vertices to which this one is visible
    std::vector<std::string> uses;  // keys of the vertices that are visible to this one; only of objects that were Set
    bool set = false;               // false: only referenced by other objects
  };
  void Put(const std::string& key, std::string node, std::vector<std::string> uses, std::vector<std::string> used_by);
  void Drop(const std::string& key);
  bool ReachesLocked(const std::string& key, const std::string& node, int depth) const;

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Vertex> vertices_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
