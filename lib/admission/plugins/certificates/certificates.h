#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

/// Who may approve and sign CertificateSigningRequests. Rights on the requests are not enough: the user needs a right on
/// the signer (a resource of authorization only, `signers` in certificates.k8s.io), by its name or by "DOMAIN/*".
namespace apimesh::admission {

/// Changes of /approval need the verb `approve` on the signer.
std::unique_ptr<Plugin> MakeCertificateApproval(const PluginInputs& inputs);
/// Changes of the certificate or the conditions through /status need the verb `sign` on the signer.
std::unique_ptr<Plugin> MakeCertificateSigning(const PluginInputs& inputs);
/// Refuses requests to the signer of client certificates for members of system:masters: nobody could ever revoke one.
std::unique_ptr<Plugin> MakeCertificateSubjectRestriction(const PluginInputs& inputs);

}  // namespace apimesh::admission
