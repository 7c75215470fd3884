#pragma once

#include <functional>

#include "services/authn-authz/authorizers/node/node_graph.h"

namespace apimesh::authn_authz {

/// Everything a pod names that its node must read: Secrets, ConfigMaps, its service account, claims. May call twice for
/// one object and with empty names.
void VisitPodReferences(const boost::json::object& pod, const std::function<void(GraphKind, std::string_view name)>& visit);

/// The paths of all that VisitPodReferences() and NodeGraph::SetPod() read of a pod besides its name.
std::vector<std::string> PodReferencePaths();

/// The Secrets of a bound PersistentVolume that a kubelet needs.
void VisitVolumeSecrets(const boost::json::object& volume,
                        const std::function<void(std::string_view ns, std::string_view name)>& visit);

}  // namespace apimesh::authn_authz
