#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::admission {

/// Throws the error of kube-apiserver if a section names a directory of manifests (`staticManifestsDir`). Static
/// manifests do not exist here, as in kube-apiserver without the feature gate ManifestBasedAdmissionControlConfig,
/// which is off by default (docs/differences.md).
void RefuseStaticManifests(std::string_view directory);

/// Checks the section of ValidatingAdmissionPolicy or MutatingAdmissionPolicy in the configuration file. `kind` is the
/// kind that the section must have. Its only field is `staticManifestsDir`. Throws std::invalid_argument with the
/// message of kube-apiserver.
void CheckPolicySection(const std::optional<std::string>& section, std::string_view kind);

}  // namespace apimesh::admission
