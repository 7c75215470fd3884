#pragma once

#include <functional>

#include "services/authn-authz/authorizers/node/node_graph.h"

namespace apimesh::authn_authz {

/// Visits all objects that a pod references and its node must read: Secrets, ConfigMaps, the service account and
/// claims. `visit` may be called twice for one object, and with empty names.
void VisitPodReferences(const boost::json::object& pod,
                        const std::function<void(GraphKind, std::string_view name)>& visit);

/// Returns the paths of all fields of a pod that VisitPodReferences() and NodeGraph::SetPod() read, except its name.
std::vector<std::string> PodReferencePaths();

/// Visits the Secrets of a bound PersistentVolume that a kubelet needs.
void VisitVolumeSecrets(const boost::json::object& volume,
                        const std::function<void(std::string_view ns, std::string_view name)>& visit);

}  // namespace apimesh::authn_authz
