#pragma once

#include <memory>

#include "lib/mesh/watch/object_sink.h"
#include "services/authn-authz/authorizers/node/node_graph.h"

namespace apimesh::authn_authz {

/// Creates a sink that adds pods, volumes, attachments or slices to the graph of the Node authorizer.
std::unique_ptr<mesh::ObjectSink> NewGraphSink(std::shared_ptr<NodeGraph> graph, GraphKind kind);
/// Creates a sink that forwards all changes to both sinks; Names() comes from `first`.
std::unique_ptr<mesh::ObjectSink> NewTeeSink(std::unique_ptr<mesh::ObjectSink> first,
                                             std::unique_ptr<mesh::ObjectSink> second);

}  // namespace apimesh::authn_authz
