#include "lib/admission/plugins/node_restriction/pod_rules.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/admission/plugins/node_restriction/pod_references.h"
#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

namespace json = meta::json;
using meta::FindString;
using meta::Quoted;

std::string_view NodeOf(const meta::Object& pod) { return FindString(pod.Root(), "spec", "nodeName"); }

bool IsTrue(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  return found && found->is_bool() && found->get_bool();
}

/// Checks that a mirror pod is bound to its node and owned by it.
meta::Result<json::object> CheckMirrorPod(const std::string& node, const Attributes& attributes) {
  const meta::Object& pod = *attributes.object;
  if (!pod.Annotation(kMirrorPodAnnotation)) {
    return Refuse(attributes, "pod does not have {} annotation, node {} can only create mirror pods",
                  Quoted(kMirrorPodAnnotation), Quoted(node));
  }
  const std::string begin = fmt::format("node {} can only create pods with", Quoted(node));
  if (NodeOf(pod) != node) return Forbidden(attributes, begin + " spec.nodeName set to itself");
  const json::array& owners = ListAt(pod.Metadata(), "ownerReferences");
  if (owners.size() > 1) return Forbidden(attributes, begin + " a single owner reference set to itself");
  if (owners.empty() || !owners[0].is_object()) {
    return Forbidden(attributes, begin + " an owner reference set to itself");
  }
  const json::object& owner = owners[0].get_object();
  if (FindString(owner, "apiVersion") != "v1" || FindString(owner, "kind") != "Node" ||
      FindString(owner, "name") != node) {
    return Forbidden(attributes, begin + " an owner reference set to itself");
  }
  if (!IsTrue(owner, "controller")) return Forbidden(attributes, begin + " a controller owner reference set to itself");
  if (IsTrue(owner, "blockOwnerDeletion")) {
    return Refuse(attributes, "node {} must not set blockOwnerDeletion on an owner reference", Quoted(node));
  }
  return owner;
}

Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                                 const Attributes& attributes) {
  ASSIGN_OR_CO_RETURN(const json::object owner, CheckMirrorPod(node, attributes));
  const meta::Result<meta::Object> found = co_await reader.Get(ctx, kNodes, "", node);
  if (!found && found.error().Is(meta::Reason::kNotFound)) co_return found.error();
  if (!found) {
    co_return Refuse(attributes, "error looking up node {} to verify uid: {}", node, found.error().Message());
  }
  if (FindString(owner, "uid") != found->Uid()) {
    co_return Refuse(attributes, "node {} UID mismatch: expected {} got {}", node, FindString(owner, "uid"),
                     found->Uid());
  }
  // The Node authorizer allows a node to read the objects that its pods refer to.
  const std::optional<PodReference> reference = FindApiReference(*attributes.object);
  if (!reference) co_return meta::Result<>();
  if (!reference->error.empty()) {
    co_return Refuse(attributes, "error checking mirror pod for API references: {}", reference->error);
  }
  co_return Refuse(attributes, "node {} can not create pods that reference {}", Quoted(node), reference->what);
}

meta::Result<> CheckDelete(const std::string& node, const Attributes& attributes) {
  if (NodeOf(*attributes.old_object) == node) return {};
  return Refuse(attributes, "node {} can only delete pods with spec.nodeName set to itself", Quoted(node));
}

bool EqualClaimStatuses(const meta::Object& a, const meta::Object& b) {
  static const json::object kNone;
  const json::value *status = meta::FindField(a.Root(), "status"), *other = meta::FindField(b.Root(), "status");
  const json::array& left =
      ListAt(status && status->is_object() ? status->get_object() : kNone, "resourceClaimStatuses");
  const json::array& right = ListAt(other && other->is_object() ? other->get_object() : kNone, "resourceClaimStatuses");
  return left == right;
}

meta::Result<> CheckStatus(const std::string& node, const Attributes& attributes) {
  if (attributes.operation != Operation::kUpdate) {
    return Refuse(attributes, "unexpected operation {}", Quoted(ToString(attributes.operation)));
  }
  const meta::Object &pod = *attributes.object, &old = *attributes.old_object;
  if (NodeOf(old) != node) {
    return Refuse(attributes, "node {} can only update pod status for pods with spec.nodeName set to itself",
                  Quoted(node));
  }
  if (LabelsOf(old) != LabelsOf(pod)) {
    return Refuse(attributes, "node {} cannot update labels through pod status", Quoted(node));
  }
  // The Node authorizer allows a node to read the claims that these statuses name.
  if (!EqualClaimStatuses(old, pod)) {
    return Refuse(attributes, "node {} cannot update resource claim statues", Quoted(node));
  }
  if (!SemanticallyEqual(meta::Find(old.Root(), "status", "extendedResourceClaimStatus"),
                         meta::Find(pod.Root(), "status", "extendedResourceClaimStatus"))) {
    return Refuse(attributes, "node {} cannot update extended resource claim status", Quoted(node));
  }
  return {};
}

Task<meta::Result<>> CheckEviction(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                                   const Attributes& attributes) {
  if (attributes.operation != Operation::kCreate) {
    co_return Refuse(attributes, "unexpected operation {}", ToString(attributes.operation));
  }
  if (attributes.name.empty()) co_return Forbidden(attributes, "could not determine pod from request data");
  const meta::Result<meta::Object> pod = co_await reader.Get(ctx, kPods, attributes.ns, attributes.name);
  if (!pod && pod.error().Is(meta::Reason::kNotFound)) co_return pod.error();
  if (!pod) co_return Forbidden(attributes, pod.error().Message());
  if (NodeOf(*pod) == node) co_return meta::Result<>();
  co_return Refuse(attributes, "node {} can only evict pods with spec.nodeName set to itself", node);
}

}  // namespace

Task<meta::Result<>> CheckPod(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                              const Attributes& attributes) {
  if (attributes.subresource == "status") co_return CheckStatus(node, attributes);
  if (attributes.subresource == "eviction") co_return co_await CheckEviction(ctx, reader, node, attributes);
  if (!attributes.subresource.empty()) {
    co_return Refuse(attributes, "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
                     Quoted(attributes.subresource));
  }
  if (attributes.operation == Operation::kCreate) co_return co_await CheckCreate(ctx, reader, node, attributes);
  if (attributes.operation == Operation::kDelete) co_return CheckDelete(node, attributes);
  co_return Refuse(attributes, "unexpected operation {}, node {} can only create and delete mirror pods",
                   Quoted(ToString(attributes.operation)), Quoted(node));
}

}  // namespace apimesh::admission::node_restriction
