#pragma once

#include "services/core-api/validation/check.h"

/// Signers of certificates, and what clients request from them.
namespace apimesh::core_api {

/// Validates the name of a signer: "example.com/name".
void CheckSignerName(const std::string& field, std::string_view signer, meta::FieldErrors& errors);
/// Whether the name belongs to a signer of Kubernetes itself.
bool IsKubernetesSigner(std::string_view signer);
/// Checks the name of a ClusterTrustBundle. The name of the bundle of a signer begins with the name of the signer, in
/// which "/" is replaced by ":". `signer` may be empty.
meta::Complaints CheckTrustBundleName(std::string_view name, std::string_view signer);
/// Validates the annotations that the user of a certificate sends to its signer.
void ValidateUserAnnotations(const Check& holder, std::string_view field);

/// Bounds of maxExpirationSeconds.
constexpr std::int64_t kMinCertificateSeconds = 60 * 60;
std::int64_t MaxCertificateSeconds(std::string_view signer);

}  // namespace apimesh::core_api
