#pragma once

#include "services/core-api/validation/check.h"

/// Rules of volumes that PersistentVolumes, PersistentVolumeClaims and VolumeAttachments share.
namespace apimesh::core_api {

/// The annotation that named the storage class before spec.storageClassName existed.
inline constexpr std::string_view kBetaStorageClass = "volume.beta.kubernetes.io/storage-class";

/// Where the spec of a PersistentVolume occurs. A VolumeAttachment may have one inline, with fewer fields.
enum class VolumeLocation { kObject, kInline };
/// Validates the spec of a PersistentVolume. `name` is the name of the volume. `check_affinity_values`: the values of
/// the node affinity must be valid label values.
void ValidateVolumeSpec(const Check& spec, std::string_view name, VolumeLocation location,
                        bool check_affinity_values = true);
/// Validates the sources of the volume (nfs, csi, …), of which there must be exactly one. `has_affinity`: the volume
/// has a node affinity, which local volumes need.
void ValidateVolumeSources(const Check& spec, std::string_view name, bool has_affinity);
/// Returns the field names of all sources, in the order in which they are validated.
std::vector<std::string_view> VolumeSourceFields();

/// Validates the values of spec.accessModes; an empty list is accepted.
void ValidateAccessModes(const Check& spec);
void ValidateVolumeMode(const Check& spec);
/// Validates the name of a CSI driver, which is required. Upper case is accepted.
void ValidateCsiDriverName(const Check& holder, std::string_view field);

/// Returns "RWO,ROX" for a list of access modes, as tables show it.
std::string AccessModesText(const meta::json::value* modes);
/// Returns the storage class of a PersistentVolume or a claim: that of the annotation, or spec.storageClassName.
std::string_view StorageClassOf(const meta::Object& object);
/// Returns the canonical text of a quantity of a list of resources; "0" if there is none.
std::string StorageText(const meta::json::value* resources);

}  // namespace apimesh::core_api
