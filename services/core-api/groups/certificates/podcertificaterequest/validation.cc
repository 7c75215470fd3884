#include "services/core-api/groups/certificates/podcertificaterequest/validation.h"

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/certificate_request.h"
#include "lib/credentials/requested_key.h"
#include "services/core-api/groups/certificates/signers/signers.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

using credentials::RequestedKey;
using Problem = std::optional<std::pair<std::string, std::string>>;  // the value that an error shows, and its detail

constexpr std::size_t kMaxUidBytes = 128, kMaxKeyBytes = 10 * 1024;
constexpr int kRsaBits[] = {3072, 4096};

std::string BytesOf(const Check& spec, std::string_view field) {
  std::string bytes;
  DecodeBase64(spec.Text(field), bytes);
  return bytes;
}

void AddInvalid(const Check& spec, std::string_view field, std::string detail, std::string value = "") {
  spec.Add(meta::Invalid(spec.Path().Child(field).ToString(), std::move(value), std::move(detail)));
}

/// Returns what is wrong with the curve or the size of a key.
Problem ParameterProblem(const RequestedKey& key, std::string_view curves) {
  if (key.GetType() == RequestedKey::Type::kEc && key.Curve() == "P-224")
    return std::pair(meta::Quoted("curve P-224"), fmt::format("elliptic public keys must use curve {}", curves));
  if (key.GetType() == RequestedKey::Type::kRsa && key.ModulusBits() != kRsaBits[0] &&
      key.ModulusBits() != kRsaBits[1]) {
    return std::pair(meta::Quoted(fmt::format("{}-bit modulus", key.ModulusBits())),
                     std::string("RSA keys must have modulus size 3072 or 4096"));
  }
  return std::nullopt;
}

constexpr const char* kUnknownType = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";

/// Validates the deprecated fields for the key.
void ValidateKey(const Check& spec) {
  const std::string der = BytesOf(spec, "pkixPublicKey"), proof = BytesOf(spec, "proofOfPossession");
  for (const auto& [field, bytes] : {std::pair("pkixPublicKey", &der), std::pair("proofOfPossession", &proof)}) {
    if (bytes->size() <= kMaxKeyBytes) continue;
    spec.Add(meta::TooLong(spec.Path().Child(field).ToString(), kMaxKeyBytes));
    return;
  }
  const std::string shown = meta::Quoted(spec.Text("pkixPublicKey"));
  const std::optional<RequestedKey> key = RequestedKey::FromPkix(der);
  if (!key) return AddInvalid(spec, "pkixPublicKey", "must be a valid PKIX-serialized public key", shown);
  if (key->GetType() == RequestedKey::Type::kOther) return AddInvalid(spec, "pkixPublicKey", kUnknownType, shown);
  if (Problem problem = ParameterProblem(*key, "P256 or P384"))
    return AddInvalid(spec, "pkixPublicKey", problem->second, problem->first);
  if (!key->HasSigned(spec.Text("podUID"), proof))
    AddInvalid(spec, "proofOfPossession", "could not verify proof-of-possession signature");
}

void ValidateStubRequest(const Check& spec) {
  constexpr std::string_view kField = "stubPKCS10Request";
  const std::string der = BytesOf(spec, kField);
  if (der.size() > kMaxKeyBytes) return spec.Add(meta::TooLong(spec.Path().Child(kField).ToString(), kMaxKeyBytes));
  const std::optional<RequestedKey> key = RequestedKey::FromRequest(der);
  if (!key) return AddInvalid(spec, kField, "must be a valid PKCS#10 CSR");
  if (key->GetType() == RequestedKey::Type::kOther) return AddInvalid(spec, kField, kUnknownType);
  if (Problem problem = ParameterProblem(*key, "P256, P384, or P521"))
    return AddInvalid(spec, kField, problem->second, problem->first);
  if (!credentials::VerifyCertificateRequestDer(der)) AddInvalid(spec, kField, "invalid signature");
}

void ValidateUid(const Check& spec, std::string_view field) {
  if (spec.Text(field).empty()) AddInvalid(spec, field, "must not be empty", meta::Quoted(""));
  if (spec.Text(field).size() > kMaxUidBytes)
    spec.Add(meta::TooLong(spec.Path().Child(field).ToString(), kMaxUidBytes));
}

void ValidateName(const Check& spec, std::string_view field) {
  for (std::string& complaint : meta::CheckDnsSubdomain(spec.Text(field)))
    AddInvalid(spec, field, std::move(complaint), meta::Quoted(spec.Text(field)));
}

}  // namespace

meta::FieldErrors ValidatePodCertificateRequest(const meta::Object& request) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(request, errors);
  const std::string_view signer = spec.Text("signerName");
  CheckSignerName(spec.Path().Child("signerName").ToString(), signer, errors);
  ValidateUserAnnotations(spec, "unverifiedUserAnnotations");
  for (const auto& [name, uid] : {std::pair("podName", "podUID"), std::pair("serviceAccountName", "serviceAccountUID"),
                                  std::pair("nodeName", "nodeUID")}) {
    ValidateName(spec, name);
    ValidateUid(spec, uid);
  }
  const std::optional<std::int64_t> seconds = spec.Number("maxExpirationSeconds");
  if (!seconds) {
    spec.Add(meta::Required(spec.Path().Child("maxExpirationSeconds").ToString(), "must be set"));
    return errors;
  }
  const std::int64_t most = MaxCertificateSeconds(signer);
  if (*seconds < kMinCertificateSeconds || *seconds > most)
    spec.Invalid("maxExpirationSeconds", fmt::format("must be in the range [{}, {}]", kMinCertificateSeconds, most));
  const bool stub = !spec.Text("stubPKCS10Request").empty(), key = !spec.Text("pkixPublicKey").empty(),
             proof = !spec.Text("proofOfPossession").empty();
  if (stub && !key && !proof) {
    ValidateStubRequest(spec);
  } else if (!stub && key && proof) {
    ValidateKey(spec);
  } else {
    spec.Add(meta::Invalid(spec.Path().ToString(), "",
                           "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"));
  }
  return errors;
}

}  // namespace apimesh::core_api
