#include "lib/admission/plugins/owner_references_permission_enforcement/owner_resources.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/base/text/text.h"
#include "lib/meta/errors/field_error.h"
#include "lib/schema/builtin.h"

namespace apimesh::admission::owner_references {
namespace {

using meta::FindString;

/// The built-in kinds that are not namespaced.
constexpr std::string_view kClusterKinds[] = {"APIService",
                                              "CSIDriver",
                                              "CSINode",
                                              "CertificateSigningRequest",
                                              "ClusterRole",
                                              "ClusterRoleBinding",
                                              "ClusterTrustBundle",
                                              "CustomResourceDefinition",
                                              "DeviceClass",
                                              "DeviceTaintRule",
                                              "FlowSchema",
                                              "IPAddress",
                                              "IngressClass",
                                              "MutatingAdmissionPolicy",
                                              "MutatingAdmissionPolicyBinding",
                                              "MutatingWebhookConfiguration",
                                              "Namespace",
                                              "Node",
                                              "PersistentVolume",
                                              "PriorityClass",
                                              "PriorityLevelConfiguration",
                                              "ResourceSlice",
                                              "RuntimeClass",
                                              "ServiceCIDR",
                                              "StorageClass",
                                              "StorageVersion",
                                              "StorageVersionMigration",
                                              "ValidatingAdmissionPolicy",
                                              "ValidatingAdmissionPolicyBinding",
                                              "ValidatingWebhookConfiguration",
                                              "VolumeAttachment",
                                              "VolumeAttributesClass"};

/// Returns the plural of a built-in kind, all of which follow the same rules.
std::string PluralOf(std::string_view kind) {
  std::string name = LowerCase(kind);
  if (name == "endpoints") return name;
  if (name.ends_with('s')) return name + "es";
  if (name.ends_with('y')) return name.substr(0, name.size() - 1) + "ies";
  return name + "s";
}

/// Returns the resource that a CustomResourceDefinition defines for the kind, or nullopt.
std::optional<OwnerResource> DefinedBy(const meta::Object& definition, const meta::Gvk& kind) {
  const json::object& spec = SpecOf(definition);
  const json::object& names = ObjectAt(spec, "names");
  const bool served = AnyOf(ListAt(spec, "versions"), [&kind](const json::object& version) {
    return FindString(version, "name") == kind.version && BoolAt(version, "served").value_or(false);
  });
  if (!served || FindString(spec, "group") != kind.group || FindString(names, "kind") != kind.kind) return std::nullopt;
  return OwnerResource{{kind.group, kind.version, std::string(FindString(names, "plural"))},
                       FindString(spec, "scope") == "Namespaced"};
}

}  // namespace

Task<meta::Result<OwnerResource>> FindResource(meta::RequestContext ctx, ObjectsPtr objects, std::string api_version,
                                               std::string kind) {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string::npos;
  const meta::Gvk wanted{core ? "" : api_version.substr(0, slash), core ? api_version : api_version.substr(slash + 1),
                         kind};
  if (schema::Builtin().FindKind(wanted)) {
    const bool cluster = std::find(std::begin(kClusterKinds), std::end(kClusterKinds), kind) != std::end(kClusterKinds);
    co_return OwnerResource{{wanted.group, wanted.version, PluralOf(kind)}, !cluster};
  }
  if (objects) {
    const meta::Gvr definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
    meta::LabelSelector all;
    const meta::Result<std::vector<ObjectPtr>> found = co_await objects->List(ctx, definitions, "", all, Read::kCached);
    if (!found) co_return found.error();
    for (const ObjectPtr& definition : *found) {
      std::optional<OwnerResource> resource = DefinedBy(*definition, wanted);
      if (resource) co_return *std::move(resource);
    }
  }
  co_return PlainError(
      fmt::format("no matches for kind {} in version {}", meta::Quoted(kind), meta::Quoted(api_version)));
}

}  // namespace apimesh::admission::owner_references
