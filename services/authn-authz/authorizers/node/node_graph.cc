#include "services/authn-authz/authorizers/node/node_graph.h"

#include <mutex>
#include <set>

#include "lib/meta/object.h"
#include "services/authn-authz/authorizers/node/references.h"

namespace apimesh::authn_authz {
namespace {

// The longest path is secret -> volume -> claim -> pod -> node.
constexpr int kMaxDepth = 4;

std::string Key(GraphKind kind, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}", static_cast<int>(kind), ns, name);
}

}  // namespace

void NodeGraph::SetPod(const boost::json::object& pod) {
  const std::string_view node = meta::FindString(pod, "spec", "nodeName");
  if (node.empty()) return;
  const std::string_view ns = meta::FindString(pod, "metadata", "namespace");
  std::set<std::string> uses;
  // Nodes create mirror pods themselves, so these must not grant access to anything.
  if (!meta::Find(pod, "metadata", "annotations", "kubernetes.io/config.mirror")) {
    VisitPodReferences(pod, [&](GraphKind kind, std::string_view name) {
      if (!name.empty()) uses.insert(Key(kind, ns, name));
    });
  }
  const std::unique_lock lock(mutex_);
  Put(Key(GraphKind::kPod, ns, meta::FindString(pod, "metadata", "name")), std::string(node),
      {uses.begin(), uses.end()}, {});
}

void NodeGraph::SetPersistentVolume(const boost::json::object& volume) {
  const std::string key = Key(GraphKind::kPersistentVolume, "", meta::FindString(volume, "metadata", "name"));
  const boost::json::value* claim = meta::Find(volume, "spec", "claimRef");
  const std::unique_lock lock(mutex_);
  if (!claim || !claim->is_object()) return Put(key, "", {}, {});
  std::set<std::string> uses;
  VisitVolumeSecrets(volume, [&](std::string_view ns, std::string_view name) {
    if (!name.empty()) uses.insert(Key(GraphKind::kSecret, ns, name));
  });
  Put(key, "", {uses.begin(), uses.end()},
      {Key(GraphKind::kPersistentVolumeClaim, meta::FindString(claim->get_object(), "namespace"),
           meta::FindString(claim->get_object(), "name"))});
}

void NodeGraph::SetObjectOfNode(GraphKind kind, const boost::json::object& object) {
  const std::unique_lock lock(mutex_);
  Put(Key(kind, meta::FindString(object, "metadata", "namespace"), meta::FindString(object, "metadata", "name")),
      std::string(meta::FindString(object, "spec", "nodeName")), {}, {});
}

void NodeGraph::Remove(GraphKind kind, const std::string& ns, const std::string& name) {
  const std::unique_lock lock(mutex_);
  Drop(Key(kind, ns, name));
}

void NodeGraph::Put(const std::string& key, std::string node, std::vector<std::string> uses,
                    std::vector<std::string> used_by) {
  Drop(key);
  for (const std::string& used : uses) vertices_[used].used_by.push_back(key);
  Vertex& vertex = vertices_[key];
  vertex.set = true;
  vertex.node = std::move(node);
  vertex.uses = std::move(uses);
  // Pods add themselves to the claims that they use; a volume names its claim itself.
  for (std::string& user : used_by) vertex.used_by.push_back(std::move(user));
}

void NodeGraph::Drop(const std::string& key) {
  const auto it = vertices_.find(key);
  if (it == vertices_.end() || !it->second.set) return;
  for (const std::string& used : it->second.uses) {
    const auto other = vertices_.find(used);
    if (other == vertices_.end()) continue;
    std::erase(other->second.used_by, key);
    if (!other->second.set && other->second.used_by.empty()) vertices_.erase(other);
  }
  vertices_.erase(key);
}

bool NodeGraph::Reaches(GraphKind kind, const std::string& ns, const std::string& name, const std::string& node) const {
  const std::shared_lock lock(mutex_);
  return ReachesLocked(Key(kind, ns, name), node, kMaxDepth);
}

bool NodeGraph::ReachesLocked(const std::string& key, const std::string& node, int depth) const {
  const auto it = vertices_.find(key);
  if (it == vertices_.end()) return false;
  if (!it->second.node.empty() && it->second.node == node) return true;
  if (depth == 0) return false;
  return std::any_of(it->second.used_by.begin(), it->second.used_by.end(),
                     [&](const std::string& user) { return ReachesLocked(user, node, depth - 1); });
}

std::vector<std::pair<std::string, std::string>> NodeGraph::Names(GraphKind kind) const {
  const std::string prefix = fmt::format("{}/", static_cast<int>(kind));
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [key, vertex] : vertices_) {
    if (!vertex.set || !key.starts_with(prefix)) continue;
    const std::size_t slash = key.find('/', prefix.size());
    names.emplace_back(key.substr(prefix.size(), slash - prefix.size()), key.substr(slash + 1));
  }
  return names;
}

}  // namespace apimesh::authn_authz
