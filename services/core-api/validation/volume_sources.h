#pragma once

#include "services/core-api/validation/check.h"

/// Rules of the sources of volumes that pods and PersistentVolumes share. Each function validates the object of one
/// source, for example spec.volumes[0].nfs.
namespace apimesh::core_api {

/// The text that says why more than one source of a volume is refused.
inline constexpr const char* kOneVolumeType = "may not specify more than 1 volume type";

/// Checks that a path has no segment "..".
void ValidateNoBackSteps(const Check& holder, std::string_view field);
/// Checks that the secret of a source has a name, and a namespace if `with_namespace` is true.
void RequireSecretName(const Check& source, bool with_namespace);
void RequireMonitors(const Check& source);

void ValidateHostPath(const Check& source);
void ValidatePartition(const Check& source);
void ValidateFlocker(const Check& source);
void ValidateNfs(const Check& source);
void ValidateQuobyte(const Check& source);
void ValidateFibreChannel(const Check& source);
void ValidateFlexVolume(const Check& source);
void ValidateAzureDisk(const Check& source);
void ValidateRbd(const Check& source);
/// Validates the names, but not the secret.
void ValidateStorageOs(const Check& source);

/// kube-apiserver words two errors of pods and of PersistentVolumes differently.
enum class IscsiErrors { kOfPods, kOfVolumes };
/// Validates everything but the target portal.
void ValidateIscsi(const Check& source, IscsiErrors errors);
/// Returns whether the name of the volume and its portal are too long for the name of an initiator.
bool IsIscsiTargetTooLong(const Check& source, std::string_view volume);

}  // namespace apimesh::core_api
