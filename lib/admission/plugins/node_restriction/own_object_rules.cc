#include "lib/admission/plugins/node_restriction/own_object_rules.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

constexpr std::string_view kNodeLeaseNamespace = "kube-node-lease";

/// Returns the name of the written object. The name of a new object is in the body, because the path has none.
std::string_view NameOf(const Attributes& attributes) {
  return attributes.operation == Operation::kCreate ? attributes.object->Name() : std::string_view(attributes.name);
}

}  // namespace

meta::Result<> CheckLease(const std::string& node, const Attributes& attributes) {
  if (attributes.ns != kNodeLeaseNamespace) {
    return Refuse(attributes, "can only access leases in the {} system namespace", meta::Quoted(kNodeLeaseNamespace));
  }
  if (NameOf(attributes) == node) return {};
  return Forbidden(attributes, "can only access node lease with the same name as the requesting node");
}

meta::Result<> CheckCsiNode(const std::string& node, const Attributes& attributes) {
  if (NameOf(attributes) == node) return {};
  return Forbidden(attributes, "can only access CSINode with the same name as the requesting node");
}

meta::Result<> CheckResourceSlice(const std::string& node, const Attributes& attributes) {
  const bool create = attributes.operation == Operation::kCreate;
  if (!create && attributes.operation != Operation::kDelete) return {};
  const meta::Object& slice = create ? *attributes.object : *attributes.old_object;
  if (meta::FindString(slice.Root(), "spec", "nodeName") == node) return {};
  return Refuse(attributes, "can only {} ResourceSlice with the same NodeName as the requesting node",
                create ? "create" : "delete");
}

}  // namespace apimesh::admission::node_restriction
