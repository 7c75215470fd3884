#include "lib/credentials/certificate_request.h"

#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "lib/base/openssl_ptr.h"
#include "lib/credentials/pem.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::credentials {
namespace {

using Request = std::unique_ptr<X509_REQ, openssl::Deleter<X509_REQ_free>>;
using Certificate = openssl::CertificatePtr;

constexpr std::string_view kNotARequest = "PEM block type must be CERTIFICATE REQUEST";

/// Returns whether the key is of a type that Go's x509 package supports. Curves that are described by explicit
/// parameters are rejected.
bool KeyIsSupported(EVP_PKEY* key) {
  const int type = EVP_PKEY_get_base_id(key);
  if (type == EVP_PKEY_RSA || type == EVP_PKEY_ED25519) return true;
  int explicit_curve = 0;
  return type == EVP_PKEY_EC &&
         EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit_curve) == 1 &&
         !explicit_curve;
}

meta::Result<> CheckSignature(X509_REQ* request) {
  const int algorithm = X509_REQ_get_signature_nid(request);
  int digest = NID_undef;
  OBJ_find_sigid_algs(algorithm, &digest, nullptr);
  if (digest == NID_md5) return meta::BadRequest("x509: cannot verify signature: insecure algorithm MD5-RSA");
  if (digest == NID_md2 || digest == NID_md4) {
    return meta::BadRequest("x509: cannot verify signature: algorithm unimplemented");
  }
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request);
  if (!key || !KeyIsSupported(key)) return meta::BadRequest("x509: cannot verify signature: algorithm unimplemented");
  if (X509_REQ_verify(request, key) == 1) return {};
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC: return meta::BadRequest("x509: ECDSA verification failure");
    case EVP_PKEY_ED25519: return meta::BadRequest("x509: Ed25519 verification failure");
    default: return meta::BadRequest("crypto/rsa: verification error");
  }
}

/// Returns the values of one attribute of the subject. A value that is not text is an error, because signers could
/// interpret it in different ways.
meta::Result<std::vector<std::string>> Attributes(const X509_NAME* subject, int nid) {
  std::vector<std::string> found;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) return meta::BadRequest("x509: malformed subject");
    found.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return found;
}

meta::Result<Request> DecodeDer(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* const end = at + bytes.size();
  Request request(d2i_X509_REQ(nullptr, &at, static_cast<long>(bytes.size())));
  if (!request) return meta::BadRequest("x509: malformed certificate request");
  if (at != end) return meta::BadRequest("asn1: syntax error: trailing data");
  return request;
}

meta::Result<Request> Decode(std::string_view pem) {
  const meta::Result<std::vector<PemBlock>> blocks = PemBlocks(pem);
  if (!blocks || blocks->size() != 1 || blocks->front().type != "CERTIFICATE REQUEST" || blocks->front().headers) {
    return meta::BadRequest(kNotARequest);
  }
  return DecodeDer(blocks->front().bytes);
}

meta::Result<CertificateRequest> Parse(std::string_view pem) {
  ASSIGN_OR_RETURN(const Request request, Decode(pem));
  const X509_NAME* const subject = X509_REQ_get_subject_name(request.get());
  CertificateRequest parsed;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Attributes(subject, NID_commonName));
  if (!names.empty()) parsed.common_name = names.back();
  ASSIGN_OR_RETURN(parsed.organizations, Attributes(subject, NID_organizationName));
  return parsed;
}

meta::Result<> Verify(std::string_view pem) {
  ASSIGN_OR_RETURN(const Request request, Decode(pem));
  return CheckSignature(request.get());
}

meta::Result<> CheckCertificate(const std::string& bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* const end = at + bytes.size();
  if (at == end) return meta::BadRequest("found CERTIFICATE PEM block containing 0 certificates");
  while (at != end) {
    const Certificate certificate(d2i_X509(nullptr, &at, static_cast<long>(end - at)));
    if (!certificate) return meta::BadRequest("x509: malformed certificate");
  }
  return {};
}

/// Returns what is wrong with a block that should be the certificate of a CA; empty if nothing is.
std::string AnchorProblem(const PemBlock& block) {
  if (block.type != "CERTIFICATE") return fmt::format("has bad block type: {}", block.type);
  if (block.headers) return "has PEM block headers";
  const auto* at = reinterpret_cast<const unsigned char*>(block.bytes.data());
  const unsigned char* const end = at + block.bytes.size();
  const Certificate certificate(d2i_X509(nullptr, &at, static_cast<long>(block.bytes.size())));
  if (!certificate || at != end) return "does not parse as X.509";
  const std::uint32_t flags = X509_get_extension_flags(certificate.get());
  if ((flags & EXFLAG_CA) == 0) return "does not have the CA bit set";
  if ((flags & EXFLAG_BCONS) == 0 || (flags & EXFLAG_INVALID) != 0) return "has invalid basic constraints";
  return "";
}

}  // namespace

// These functions clear OpenSSL's error queue, because a remaining error would be attributed to the next TLS connection
// of this thread.
meta::Result<CertificateRequest> ParseCertificateRequest(std::string_view pem) {
  meta::Result<CertificateRequest> parsed = Parse(pem);
  ERR_clear_error();
  return parsed;
}

meta::Result<> VerifyCertificateRequest(std::string_view pem) {
  meta::Result<> verified = Verify(pem);
  ERR_clear_error();
  return verified;
}

meta::Result<> VerifyCertificateRequestDer(std::string_view der) {
  const meta::Result<Request> request = DecodeDer(der);
  meta::Result<> verified = request ? CheckSignature(request->get()) : meta::Result<>(request.error());
  ERR_clear_error();
  return verified;
}

std::vector<std::string> CheckTrustAnchors(std::string_view pem) {
  const meta::Result<std::vector<PemBlock>> blocks = PemBlocks(pem);
  if (!blocks) return {blocks.error().Message()};
  std::vector<std::string> errors;
  std::map<std::string_view, std::vector<std::size_t>> indices;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    if (std::string problem = AnchorProblem((*blocks)[i]); !problem.empty()) {
      errors.push_back(fmt::format("entry {} {}", i, problem));
    } else {
      indices[(*blocks)[i].bytes].push_back(i);
    }
  }
  ERR_clear_error();
  if (!errors.empty()) return errors;
  if (indices.empty()) return {"at least one trust anchor must be provided"};
  for (const auto& [bytes, same] : indices) {
    if (same.size() > 1) errors.push_back(fmt::format("duplicate trust anchor (indices [{}])", fmt::join(same, " ")));
  }
  return errors;
}

meta::Result<> CheckCertificates(std::string_view pem) {
  const meta::Result<std::vector<PemBlock>> blocks = PemBlocks(pem);
  if (!blocks) return blocks.error();
  if (blocks->empty()) return meta::BadRequest("must contain at least one CERTIFICATE PEM block");
  for (const PemBlock& block : *blocks) {
    if (block.type != "CERTIFICATE") {
      return meta::BadRequest(
          fmt::format("only CERTIFICATE PEM blocks are allowed, found {}", meta::Quoted(block.type)));
    }
    if (block.headers) return meta::BadRequest("no PEM block headers are permitted");
    meta::Result<> checked = CheckCertificate(block.bytes);
    ERR_clear_error();
    if (!checked) return checked;
  }
  return {};
}

}  // namespace apimesh::credentials
