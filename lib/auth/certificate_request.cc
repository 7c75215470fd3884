#include "lib/auth/certificate_request.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

#include "lib/codec/base64.h"
#include "lib/meta/field_error.h"

namespace apimesh::auth {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const { Free(pointer); }
};
using Request = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;

constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
constexpr std::string_view kNotARequest = "PEM block type must be CERTIFICATE REQUEST";

struct Block {
  std::string type;
  bool headers = false;
  std::string bytes;
};

/// The next line, which is removed from `text`, without spaces at its end.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

/// The type of a line such as "-----BEGIN CERTIFICATE-----"; empty if it is none.
std::string_view TypeOf(std::string_view line, std::string_view start) {
  if (!line.starts_with(start) || !line.ends_with(kDashes) || line.size() < start.size() + kDashes.size()) return {};
  return line.substr(start.size(), line.size() - start.size() - kDashes.size());
}

/// All blocks of the text. An error if one of them is malformed: what one reader of PEM skips, another may read.
meta::Result<std::vector<Block>> Blocks(std::string_view text) {
  std::vector<Block> blocks;
  while (!text.empty()) {
    const std::string_view first = TakeLine(text);
    if (first.find(kBegin) == std::string_view::npos && first.find(kEnd) == std::string_view::npos) continue;
    Block block{.type = std::string(TypeOf(first, kBegin))};
    if (block.type.empty()) return meta::BadRequest("malformed PEM block");
    std::string base64;
    while (true) {
      if (text.empty()) return meta::BadRequest("malformed PEM block");
      const std::string_view line = TakeLine(text);
      if (TypeOf(line, kEnd) == block.type) break;
      if (line.find(':') != std::string_view::npos) {
        block.headers = true;
      } else if (line.find(kDashes) != std::string_view::npos) {
        return meta::BadRequest("malformed PEM block");
      } else {
        base64 += line;
      }
    }
    if (!block.headers && codec::DecodeBase64(base64, block.bytes)) return meta::BadRequest("malformed PEM block");
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Go's readers of certificates know these keys only. Curves that a request describes by its own parameters are refused.
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

/// The values of one attribute of the subject. A value that is no text is an error, because signers could read it in
/// different ways.
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

meta::Result<Request> Decode(std::string_view pem) {
  const meta::Result<std::vector<Block>> blocks = Blocks(pem);
  if (!blocks || blocks->size() != 1 || blocks->front().type != "CERTIFICATE REQUEST" || blocks->front().headers) {
    return meta::BadRequest(kNotARequest);
  }
  const std::string& bytes = blocks->front().bytes;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* const end = at + bytes.size();
  Request request(d2i_X509_REQ(nullptr, &at, static_cast<long>(bytes.size())));
  if (!request) return meta::BadRequest("x509: malformed certificate request");
  if (at != end) return meta::BadRequest("asn1: syntax error: trailing data");
  return request;
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

}  // namespace

// A failure that stays in OpenSSL's queue would be taken for one of the next TLS connection of this thread.
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

meta::Result<> CheckCertificates(std::string_view pem) {
  const meta::Result<std::vector<Block>> blocks = Blocks(pem);
  if (!blocks) return blocks.error();
  if (blocks->empty()) return meta::BadRequest("must contain at least one CERTIFICATE PEM block");
  for (const Block& block : *blocks) {
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

}  // namespace apimesh::auth
