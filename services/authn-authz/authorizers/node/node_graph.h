#pragma once

#include <boost/json/object.hpp>

#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace apimesh::authn_authz {

enum class GraphKind {
  kSecret, kConfigMap, kServiceAccount, kPersistentVolumeClaim, kResourceClaim, kPod,
  kPersistentVolume, kVolumeAttachment, kResourceSlice
};

/// Which objects a node may see because its pods use them:
///   secret, config map, service account, claim -> pod -> node;  secret -> volume -> claim;  attachment, slice -> node.
/// Fed by the watches; thread-safe.
class NodeGraph {
 public:
  /// Does nothing for a pod that has no node yet.
  void SetPod(const boost::json::object& pod);
  void SetPersistentVolume(const boost::json::object& volume);
  void SetVolumeAttachment(const boost::json::object& attachment);
  void SetResourceSlice(const boost::json::object& slice);
  void Remove(GraphKind kind, const std::string& ns, const std::string& name);

  bool Reaches(GraphKind kind, const std::string& ns, const std::string& name, const std::string& node) const;
  /// {namespace, name} of what was put in by one of the Set functions.
  std::vector<std::pair<std::string, std::string>> Names(GraphKind kind) const;

 private:
  struct Vertex {
    std::string node;                   // pods, attachments, slices: where they are
    std::vector<std::string> used_by;   // keys of the vertices this one is visible to
    std::vector<std::string> uses;      // keys this vertex was linked from; only of those that were Set
    bool set = false;                   // false: only spoken of by others
  };
  void Put(const std::string& key, std::string node, std::vector<std::string> uses, std::vector<std::string> used_by);
  void Drop(const std::string& key);
  bool ReachesLocked(const std::string& key, const std::string& node, int depth) const;

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Vertex> vertices_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
