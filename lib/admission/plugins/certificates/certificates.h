#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

/// Checks of the approval and signing of CertificateSigningRequests. Rights on the requests are not sufficient: the
/// user needs a right on the signer (`signers` in certificates.k8s.io, a resource that exists only in authorization),
/// by its name or by "DOMAIN/*".
namespace apimesh::admission {

/// Changes of /approval need the verb `approve` on the signer.
std::unique_ptr<Plugin> MakeCertificateApproval(const PluginInputs& inputs);
/// Changes of the certificate or the conditions through /status need the verb `sign` on the signer.
std::unique_ptr<Plugin> MakeCertificateSigning(const PluginInputs& inputs);
/// ClusterTrustBundles of a signer need the verb `attest` on the signer.
std::unique_ptr<Plugin> MakeClusterTrustBundleAttest(const PluginInputs& inputs);
/// Rejects requests for client certificates of members of system:masters, because such certificates cannot be revoked.
std::unique_ptr<Plugin> MakeCertificateSubjectRestriction(const PluginInputs& inputs);

}  // namespace apimesh::admission
