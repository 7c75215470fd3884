#pragma once

#include <memory>

#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/state/object_sink.h"

namespace apimesh::authn_authz {

/// Pods, volumes, attachments or slices into the Node authorizer's graph.
std::unique_ptr<ObjectSink> NewGraphSink(std::shared_ptr<NodeGraph> graph, GraphKind kind);
/// Hands everything to both; `first` says what there is.
std::unique_ptr<ObjectSink> NewTeeSink(std::unique_ptr<ObjectSink> first, std::unique_ptr<ObjectSink> second);

}  // namespace apimesh::authn_authz
