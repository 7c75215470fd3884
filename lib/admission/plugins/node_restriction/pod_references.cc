#include "lib/admission/plugins/node_restriction/pod_references.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::node_restriction {
namespace {

using meta::FindString;
using meta::json::object;

/// Volume sources whose secretRef names a Secret.
constexpr std::string_view kSecretRefSources[] = {"cephfs",  "cinder", "flexVolume", "rbd",
                                                  "scaleIO", "iscsi",  "storageos"};

/// Volume sources that refer to other API objects, in the order in which they are checked.
constexpr std::pair<std::string_view, std::string_view> kReferringSources[] = {
    {"configMap", "configmaps (via configmap volumes)"},
    {"secret", "secrets (via secret volumes)"},
    {"csi", "csidrivers (via CSI volumes)"},
    {"glusterfs", "endpoints (via glusterFS volumes)"},
    {"persistentVolumeClaim", "persistentvolumeclaims"},
    {"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
    {"azureFile", "secrets (via azureFile volumes)"},
};
constexpr std::pair<std::string_view, std::string_view> kReferringProjections[] = {
    {"configMap", "configmaps (via projected volumes)"},
    {"secret", "secrets (via projected volumes)"},
    {"serviceAccountToken", "serviceaccounts (via projected volumes)"},
    {"clusterTrustBundle", "clustertrustbundles"},
    {"podCertificate", "podcertificates"},
};
/// Volume sources that do not refer to API objects.
constexpr std::string_view kHarmlessSources[] = {
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
};

/// Returns whether the environment of a container uses a Secret (`from_all` "secretRef", `from_key` "secretKeyRef") or
/// a ConfigMap.
bool UsesEnvironment(const object& container, std::string_view from_all, std::string_view from_key) {
  const auto takes_all = [from_all](const object& source) { return !FindString(source, from_all, "name").empty(); };
  const auto takes_key = [from_key](const object& variable) {
    return !FindString(variable, "valueFrom", from_key, "name").empty();
  };
  return AnyOf(ListAt(container, "envFrom"), takes_all) || AnyOf(ListAt(container, "env"), takes_key);
}

bool AnyContainerUses(const object& spec, std::string_view from_all, std::string_view from_key) {
  const auto uses = [&](const object& container) { return UsesEnvironment(container, from_all, from_key); };
  return std::any_of(std::begin(kContainerLists), std::end(kContainerLists),
                     [&](std::string_view list) { return AnyOf(ListAt(spec, list), uses); });
}

bool AnyProjection(const object& volume, std::string_view source, std::string_view name) {
  const meta::json::value* projected = meta::FindField(volume, "projected");
  if (!projected || !projected->is_object()) return false;
  return AnyOf(ListAt(projected->get_object(), "sources"),
               [&](const object& one) { return !FindString(one, source, name).empty(); });
}

bool VolumeNamesSecret(const object& volume) {
  if (!FindString(volume, "azureFile", "secretName").empty()) return true;
  if (!FindString(volume, "secret", "secretName").empty()) return true;
  if (!FindString(volume, "csi", "nodePublishSecretRef", "name").empty()) return true;
  for (const std::string_view source : kSecretRefSources) {
    if (!FindString(volume, source, "secretRef", "name").empty()) return true;
  }
  return AnyProjection(volume, "secret", "name");
}

bool VolumeNamesConfigMap(const object& volume) {
  return !FindString(volume, "configMap", "name").empty() || AnyProjection(volume, "configMap", "name");
}

std::optional<PodReference> FindInProjections(const object& volume, const object& projected) {
  for (const meta::json::value& item : ListAt(projected, "sources")) {
    const object source = item.is_object() ? item.get_object() : object();
    for (const auto& [field, what] : kReferringProjections) {
      if (Has(source, field)) return PodReference{std::string(what), ""};
    }
    if (Has(source, "downwardAPI")) continue;
    const std::string name = meta::Quoted(FindString(volume, "name"));
    return PodReference{"", fmt::format("unknown source for projected volume {}", name)};
  }
  return std::nullopt;
}

std::optional<PodReference> FindInVolume(const object& volume) {
  // Referring sources are checked first, so that one next to a harmless source is not missed.
  for (const auto& [field, what] : kReferringSources) {
    if (Has(volume, field)) return PodReference{std::string(what), ""};
  }
  const meta::json::value* projected = meta::FindField(volume, "projected");
  if (projected && projected->is_object()) return FindInProjections(volume, projected->get_object());
  const bool harmless = std::any_of(std::begin(kHarmlessSources), std::end(kHarmlessSources),
                                    [&](std::string_view source) { return Has(volume, source); });
  if (harmless) return std::nullopt;
  return PodReference{"", fmt::format("unknown volume type for volume  {}", meta::Quoted(FindString(volume, "name")))};
}

}  // namespace

bool RefersToSecret(const meta::Object& pod) {
  const object& spec = SpecOf(pod);
  const auto named = [](const object& reference) { return !FindString(reference, "name").empty(); };
  return AnyOf(ListAt(spec, "imagePullSecrets"), named) || AnyContainerUses(spec, "secretRef", "secretKeyRef") ||
         AnyOf(ListAt(spec, "volumes"), &VolumeNamesSecret);
}

std::optional<PodReference> FindApiReference(const meta::Object& pod) {
  const object& spec = SpecOf(pod);
  // `serviceAccount` is the deprecated name of the field.
  if (!FindString(spec, "serviceAccountName").empty() || !FindString(spec, "serviceAccount").empty()) {
    return PodReference{"serviceaccounts", ""};
  }
  const meta::json::array& volumes = ListAt(spec, "volumes");
  if (RefersToSecret(pod)) return PodReference{"secrets", ""};
  if (AnyContainerUses(spec, "configMapRef", "configMapKeyRef") || AnyOf(volumes, &VolumeNamesConfigMap)) {
    return PodReference{"configmaps", ""};
  }
  if (!ListAt(spec, "resourceClaims").empty()) return PodReference{"resourceclaims", ""};
  for (const meta::json::value& volume : volumes) {
    if (!volume.is_object()) continue;
    if (std::optional<PodReference> reference = FindInVolume(volume.get_object())) return reference;
  }
  return std::nullopt;
}

}  // namespace apimesh::admission::node_restriction
