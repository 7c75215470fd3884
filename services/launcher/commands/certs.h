#pragma once

#include <string>

namespace apimesh::launcher {

/// Lists the certificates of a mesh with the time that is left.
int ShowCertificates(const std::string& folder, bool as_json);

/// Replaces all certificates and their keys, except those of the authorities and of service-account tokens, and the
/// kubeconfig. A mesh that runs loads the new files without a restart.
int RotateCertificates(const std::string& folder);

}  // namespace apimesh::launcher
