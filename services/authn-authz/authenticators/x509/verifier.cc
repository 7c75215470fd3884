#include "services/authn-authz/authenticators/x509/verifier.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "lib/base/log.h"
#include "lib/base/openssl_ptr.h"
#include "services/authn-authz/config/file.h"

namespace apimesh::authn_authz {
namespace {

using openssl::Deleter;
using Certificate = openssl::CertificatePtr;
using Store = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;
using Bio = openssl::BioPtr;
struct StackDeleter {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using Stack = std::unique_ptr<STACK_OF(X509), StackDeleter>;

constexpr char kUidOid[] = "1.3.6.1.4.1.57683.2";

std::string Hex(const unsigned char* bytes, std::size_t size, bool columns) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out += columns ? fmt::format("{:02X}", bytes[i]) : fmt::format("{:02x}", bytes[i]);
    if (columns && i + 1 < size) out += ':';
  }
  return out;
}

std::string KeyIdText(const ASN1_OCTET_STRING* id) {
  return id ? Hex(ASN1_STRING_get0_data(id), static_cast<std::size_t>(ASN1_STRING_length(id)), true) : "";
}

std::string Identifier(X509* certificate) {
  BIGNUM* serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  char* decimal = serial ? BN_bn2dec(serial) : nullptr;
  std::string text =
      fmt::format("SN={}, SKID={}, AKID={}", decimal ? decimal : "?", KeyIdText(X509_get0_subject_key_id(certificate)),
                  KeyIdText(X509_get0_authority_key_id(certificate)));
  OPENSSL_free(decimal);
  BN_free(serial);
  return text;
}

std::string Utf8(const ASN1_STRING* value) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, value);
  if (size < 0) return {};
  std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return text;
}

CertificateIdentity Identity(X509* leaf) {
  CertificateIdentity identity;
  const X509_NAME* subject = X509_get_subject_name(leaf);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(entry);
    const int nid = OBJ_obj2nid(type);
    char oid[64] = {};
    OBJ_obj2txt(oid, sizeof oid, type, 1);
    if (nid == NID_commonName) identity.common_name = Utf8(value);  // the last one is used, as in crypto/x509
    if (nid == NID_organizationName) identity.organizations.push_back(Utf8(value));
    if (std::string_view(oid) == kUidOid) identity.uids.push_back(Utf8(value));
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  X509_digest(leaf, EVP_sha256(), digest, &size);
  identity.fingerprint = Hex(digest, size, false);
  identity.not_after = openssl::ToWallTime(X509_get0_notAfter(leaf));
  return identity;
}

// Every certificate with an extended key usage must allow client authentication, including the CAs.
bool UsableForClients(const STACK_OF(X509) * chain) {
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    X509* certificate = sk_X509_value(chain, i);
    if (X509_get_ext_by_NID(certificate, NID_ext_key_usage, -1) < 0) continue;
    if ((X509_get_extended_key_usage(certificate) & (XKU_SSL_CLIENT | XKU_ANYEKU)) == 0) return false;
  }
  return true;
}

std::string ErrorText(int code) {
  switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "x509: certificate signed by unknown authority";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return "x509: certificate has expired or is not yet valid";
    default: return fmt::format("x509: {}", X509_verify_cert_error_string(code));
  }
}

meta::Result<std::shared_ptr<X509_STORE>> ParseBundle(std::string_view pem) {
  Store store(X509_STORE_new());
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int count = 0;
  while (Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    X509_STORE_add_cert(store.get(), certificate.get());
    ++count;
  }
  ERR_clear_error();
  if (count == 0) return meta::BadRequest("data does not contain any valid certificates");
  return std::shared_ptr<X509_STORE>(std::move(store));
}

}  // namespace

CertificateVerifier::CertificateVerifier(std::shared_ptr<X509_STORE> store, std::unique_ptr<WatchedFile> file,
                                         const Clock& clock)
    : clock_(clock), file_(std::move(file)), store_(std::move(store)) {}

CertificateVerifier::~CertificateVerifier() = default;

meta::Result<CertificateIdentity> CertificateVerifier::Verify(const std::vector<std::string>& chain) {
  if (chain.empty()) return meta::Unauthorized("no certificate");
  Certificate leaf;
  const Stack rest(sk_X509_new_null());
  for (const std::string& der : chain) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    Certificate certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
    if (!certificate) {
      ERR_clear_error();
      return meta::Unauthorized("x509: malformed certificate");
    }
    if (!leaf) {
      leaf = std::move(certificate);
    } else {
      sk_X509_push(rest.get(), certificate.release());
    }
  }
  const std::shared_ptr<X509_STORE> store = CurrentStore();
  const std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), rest.get());
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  // Every certificate in the bundle is trusted, self-signed or not. Weak digests are rejected.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_auth_level(parameters, 1);
  X509_VERIFY_PARAM_set_time(parameters, std::chrono::system_clock::to_time_t(clock_.Now()));
  if (X509_verify_cert(context.get()) != 1) {
    const int code = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return meta::Unauthorized(
        fmt::format("verifying certificate {} failed: {}", Identifier(leaf.get()), ErrorText(code)));
  }
  if (!UsableForClients(X509_STORE_CTX_get0_chain(context.get()))) {
    return meta::Unauthorized(
        fmt::format("verifying certificate {} failed: x509: certificate specifies an incompatible key usage",
                    Identifier(leaf.get())));
  }
  return Identity(leaf.get());
}

std::shared_ptr<X509_STORE> CertificateVerifier::CurrentStore() {
  if (file_) {
    if (std::optional<std::string> pem = file_->ChangedContents()) {
      if (auto parsed = ParseBundle(*pem)) {
        const std::lock_guard lock(mutex_);
        store_ = std::move(*parsed);
      } else {
        log::Error("CA bundle {} no longer holds a certificate; the last good one stays", file_->Path());
      }
    }
  }
  const std::lock_guard lock(mutex_);
  return store_;
}

meta::Result<std::unique_ptr<CertificateVerifier>> CertificateVerifier::FromPem(std::string pem, const Clock& clock) {
  ASSIGN_OR_RETURN(std::shared_ptr<X509_STORE> store, ParseBundle(pem));
  return std::unique_ptr<CertificateVerifier>(new CertificateVerifier(std::move(store), nullptr, clock));
}

meta::Result<std::unique_ptr<CertificateVerifier>> CertificateVerifier::FromFile(std::string path, const Clock& clock) {
  ASSIGN_OR_RETURN(const std::string pem, ReadFile(path));
  auto store = ParseBundle(pem);
  if (!store) return meta::BadRequest(fmt::format("error loading CA bundle {}: {}", path, store.error().Message()));
  auto file = std::make_unique<WatchedFile>(std::move(path), clock);
  return std::unique_ptr<CertificateVerifier>(new CertificateVerifier(std::move(*store), std::move(file), clock));
}

}  // namespace apimesh::authn_authz
