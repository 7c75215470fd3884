#include "lib/admission/plugins/node_restriction/node_rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

using meta::Quoted;

/// Labels in namespaces of Kubernetes that kubelets may nevertheless set.
constexpr std::string_view kKubeletLabels[] = {
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
};
constexpr std::string_view kKubeletNamespaces[] = {"kubelet.kubernetes.io", "node.kubernetes.io"};

/// Returns the part of a label key before its first slash, or "".
std::string_view NamespaceOf(std::string_view label) {
  const std::size_t slash = label.find('/');
  return slash == std::string_view::npos ? std::string_view() : label.substr(0, slash);
}

/// Returns whether `ns` is `domain` or a subdomain of it.
bool IsWithin(std::string_view ns, std::string_view domain) {
  if (!ns.ends_with(domain)) return false;
  return ns.size() == domain.size() || ns[ns.size() - domain.size() - 1] == '.';
}

bool IsKubeletLabel(std::string_view label) {
  if (std::find(std::begin(kKubeletLabels), std::end(kKubeletLabels), label) != std::end(kKubeletLabels)) return true;
  return std::any_of(std::begin(kKubeletNamespaces), std::end(kKubeletNamespaces),
                     [label](std::string_view domain) { return IsWithin(NamespaceOf(label), domain); });
}

/// Returns whether nodes must not set the label, because it could attract pods that are meant for other nodes.
bool IsForbiddenLabel(std::string_view label) {
  const std::string_view ns = NamespaceOf(label);
  if (IsWithin(ns, "node-restriction.kubernetes.io")) return true;
  return (IsWithin(ns, "kubernetes.io") || IsWithin(ns, "k8s.io")) && !IsKubeletLabel(label);
}

/// Returns the sorted keys of added, changed or removed labels that a node must not change.
std::set<std::string> ForbiddenChanges(const StringMap& labels, const StringMap& old) {
  std::set<std::string> forbidden;
  const auto collect = [&forbidden](const StringMap& from, const StringMap& other) {
    for (const auto& [key, value] : from) {
      const auto same = other.find(key);
      if ((same == other.end() || same->second != value) && IsForbiddenLabel(key)) forbidden.insert(key);
    }
  };
  collect(labels, old);
  collect(old, labels);
  return forbidden;
}

const meta::json::value* SpecField(const meta::Object& object, std::string_view name) {
  return meta::Find(object.Root(), "spec", name);
}

bool HasConfigSource(const meta::Object& object) {
  const meta::json::value* source = SpecField(object, "configSource");
  return source && !source->is_null();
}

meta::Result<> CheckCreate(const std::string& node, const Attributes& attributes) {
  const meta::Object& object = *attributes.object;
  // The Node authorizer allows a node to read the objects that its spec refers to.
  if (HasConfigSource(object)) {
    return Refuse(attributes, "node {} is not allowed to create pods with a non-nil configSource", Quoted(node));
  }
  const std::set<std::string> labels = ForbiddenChanges(LabelsOf(object), {});
  if (labels.empty()) return {};
  return Refuse(attributes, "node {} is not allowed to set the following labels: {}", Quoted(node),
                fmt::join(labels, ", "));
}

meta::Result<> CheckUpdate(const std::string& node, const Attributes& attributes) {
  const meta::Object &object = *attributes.object, &old = *attributes.old_object;
  // Old kubelets drop the field when they update the status, so its removal is allowed.
  if (HasConfigSource(object) &&
      !(HasConfigSource(old) && SemanticallyEqual(SpecField(object, "configSource"), SpecField(old, "configSource")))) {
    return Refuse(attributes, "node {} is not allowed to update configSource to a new non-nil configSource",
                  Quoted(node));
  }
  if (!SemanticallyEqual(SpecField(object, "taints"), SpecField(old, "taints"))) {
    return Refuse(attributes, "node {} is not allowed to modify taints", Quoted(node));
  }
  // If the owner does not exist, the garbage collector deletes the Node, and the node could register again without its
  // taints and labels.
  if (!SemanticallyEqual(meta::FindField(object.Metadata(), "ownerReferences"),
                         meta::FindField(old.Metadata(), "ownerReferences"))) {
    return Refuse(attributes, "node {} is not allowed to modify ownerReferences", Quoted(node));
  }
  const std::set<std::string> labels = ForbiddenChanges(LabelsOf(object), LabelsOf(old));
  if (labels.empty()) return {};
  return Refuse(attributes, "is not allowed to modify labels: {}", fmt::join(labels, ", "));
}

}  // namespace

meta::Result<> CheckNode(const std::string& node, const Attributes& attributes) {
  if (attributes.name != node) {
    return Refuse(attributes, "node {} is not allowed to modify node {}", Quoted(node), Quoted(attributes.name));
  }
  if (attributes.operation == Operation::kCreate) return CheckCreate(node, attributes);
  if (attributes.operation == Operation::kUpdate) return CheckUpdate(node, attributes);
  return {};
}

}  // namespace apimesh::admission::node_restriction
