#include "services/authn-authz/authorizers/node/references.h"

#include <unordered_map>

#include "lib/meta/object.h"

namespace apimesh::authn_authz {
namespace {

using boost::json::object;
constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};
using PodVisitor = std::function<void(GraphKind, std::string_view)>;

template <class Do>
void ForEach(const object& parent, std::string_view field, Do each) {
  const boost::json::value* list = meta::FindField(parent, field);
  if (!list || !list->is_array()) return;
  for (const boost::json::value& item : list->get_array()) {
    if (item.is_object()) each(item.get_object());
  }
}

void VisitContainer(const object& container, const PodVisitor& visit) {
  ForEach(container, "envFrom", [&](const object& source) {
    visit(GraphKind::kSecret, meta::FindString(source, "secretRef", "name"));
    visit(GraphKind::kConfigMap, meta::FindString(source, "configMapRef", "name"));
  });
  ForEach(container, "env", [&](const object& variable) {
    visit(GraphKind::kSecret, meta::FindString(variable, "valueFrom", "secretKeyRef", "name"));
    visit(GraphKind::kConfigMap, meta::FindString(variable, "valueFrom", "configMapKeyRef", "name"));
  });
}

void VisitVolume(const object& volume, std::string_view pod_name, const PodVisitor& visit) {
  visit(GraphKind::kSecret, meta::FindString(volume, "secret", "secretName"));
  visit(GraphKind::kSecret, meta::FindString(volume, "azureFile", "secretName"));
  for (const char* source : {"cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"}) {
    visit(GraphKind::kSecret, meta::FindString(volume, source, "secretRef", "name"));
  }
  visit(GraphKind::kSecret, meta::FindString(volume, "csi", "nodePublishSecretRef", "name"));
  visit(GraphKind::kConfigMap, meta::FindString(volume, "configMap", "name"));
  if (const boost::json::value* projected = meta::FindField(volume, "projected"); projected && projected->is_object()) {
    ForEach(projected->get_object(), "sources", [&](const object& source) {
      visit(GraphKind::kSecret, meta::FindString(source, "secret", "name"));
      visit(GraphKind::kConfigMap, meta::FindString(source, "configMap", "name"));
    });
  }
  if (meta::FindField(volume, "persistentVolumeClaim")) {
    visit(GraphKind::kPersistentVolumeClaim, meta::FindString(volume, "persistentVolumeClaim", "claimName"));
  } else if (meta::FindField(volume, "ephemeral")) {
    visit(GraphKind::kPersistentVolumeClaim, fmt::format("{}-{}", pod_name, meta::FindString(volume, "name")));
  }
}

void VisitClaims(const object& pod, const object& spec, const PodVisitor& visit) {
  // The claims that are created from templates, by the name that the pod gives them. The status contains them once they
  // exist. A pod can have thousands of them.
  std::unordered_multimap<std::string_view, std::string_view> made_claims;
  if (const boost::json::value* status = meta::FindField(pod, "status"); status && status->is_object()) {
    ForEach(status->get_object(), "resourceClaimStatuses", [&](const object& made) {
      made_claims.emplace(meta::FindString(made, "name"), meta::FindString(made, "resourceClaimName"));
    });
  }
  ForEach(spec, "resourceClaims", [&](const object& claim) {
    if (meta::FindField(claim, "resourceClaimName")) {
      visit(GraphKind::kResourceClaim, meta::FindString(claim, "resourceClaimName"));
      return;
    }
    const auto [first, last] = made_claims.equal_range(meta::FindString(claim, "name"));
    for (auto made = first; made != last; ++made) visit(GraphKind::kResourceClaim, made->second);
  });
  visit(GraphKind::kResourceClaim, meta::FindString(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"));
}

}  // namespace

std::vector<std::string> PodReferencePaths() {
  std::vector<std::string> paths = {"metadata.annotations",
                                    "spec.nodeName",
                                    "spec.serviceAccountName",
                                    "spec.imagePullSecrets",
                                    "spec.volumes",
                                    "spec.resourceClaims",
                                    "status.resourceClaimStatuses",
                                    "status.extendedResourceClaimStatus"};
  for (const char* list : kContainerLists) {
    paths.push_back(fmt::format("spec.{}.envFrom", list));
    paths.push_back(fmt::format("spec.{}.env.valueFrom", list));
  }
  return paths;
}

void VisitPodReferences(const object& pod, const PodVisitor& visit) {
  const boost::json::value* value = meta::FindField(pod, "spec");
  if (!value || !value->is_object()) return;
  const object& spec = value->get_object();
  visit(GraphKind::kServiceAccount, meta::FindString(spec, "serviceAccountName"));
  ForEach(spec, "imagePullSecrets",
          [&](const object& ref) { visit(GraphKind::kSecret, meta::FindString(ref, "name")); });
  for (const char* list : kContainerLists) {
    ForEach(spec, list, [&](const object& container) { VisitContainer(container, visit); });
  }
  const std::string_view pod_name = meta::FindString(pod, "metadata", "name");
  ForEach(spec, "volumes", [&](const object& volume) { VisitVolume(volume, pod_name, visit); });
  VisitClaims(pod, spec, visit);
}

void VisitVolumeSecrets(const object& volume, const std::function<void(std::string_view, std::string_view)>& visit) {
  const boost::json::value* value = meta::FindField(volume, "spec");
  if (!value || !value->is_object()) return;
  const object& spec = value->get_object();
  const std::string_view claim_ns = meta::FindString(spec, "claimRef", "namespace");
  const auto in_claim_ns = [&](std::string_view ns) { return ns.empty() ? claim_ns : ns; };
  visit(in_claim_ns(meta::FindString(spec, "azureFile", "secretNamespace")),
        meta::FindString(spec, "azureFile", "secretName"));
  for (const char* source : {"cephfs", "flexVolume", "rbd", "scaleIO", "iscsi"}) {
    visit(in_claim_ns(meta::FindString(spec, source, "secretRef", "namespace")),
          meta::FindString(spec, source, "secretRef", "name"));
  }
  for (const char* source : {"cinder", "storageos"}) {
    visit(meta::FindString(spec, source, "secretRef", "namespace"),
          meta::FindString(spec, source, "secretRef", "name"));
  }
  // Secrets of the CSI controller (publish, expand) are not visible to kubelets.
  for (const char* ref : {"nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"}) {
    visit(meta::FindString(spec, "csi", ref, "namespace"), meta::FindString(spec, "csi", ref, "name"));
  }
}

}  // namespace apimesh::authn_authz
