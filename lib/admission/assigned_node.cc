#include "lib/admission/assigned_node.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

std::string_view NodeName(const Attributes& attributes) {
  return meta::FindString(SpecOf(std::as_const(*attributes.object)), "nodeName");
}

}  // namespace

bool ChangesAssignedPod(const Attributes& attributes) {
  return attributes.operation == Operation::kUpdate && IsResource(attributes, "", "pods") &&
         attributes.object->Generation() != attributes.old_object->Generation() && !NodeName(attributes).empty();
}

Task<meta::Result<ObjectPtr>> AssignedNode(meta::RequestContext ctx, const Attributes& attributes, ObjectsPtr objects) {
  const std::string name(NodeName(attributes));
  const meta::Gvr nodes{"", "v1", "nodes"};
  meta::Result<ObjectPtr> node = meta::InternalError("nodes cannot be read here");
  if (objects) node = co_await objects->Get(ctx, nodes, "", name, Read::kCached);
  if (node) co_return node;
  if (node.error().Is(meta::Reason::kNotFound))
    co_return Forbidden(attributes, fmt::format("node {} not found", meta::Quoted(name)));
  co_return Forbidden(attributes, fmt::format("failed to get node {}: {}", meta::Quoted(name), node.error().Message()));
}

}  // namespace apimesh::admission
