#include "services/authn-authz/testing/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace apimesh::authn_authz::fake {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using X509Ptr = std::unique_ptr<X509, Free>;
using Bio = std::unique_ptr<BIO, Free>;

void Extend(X509* certificate, X509* issuer, int what, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

Certificate MakeCertificate(const CertificateRequest& request, const Certificate* issuer) {
  const Key key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), request.valid_from);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_until);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto add = [subject](const char* field, const std::string& value) {
    ASN1_OBJECT* type = OBJ_txt2obj(field, 0);
    X509_NAME_add_entry_by_OBJ(subject, type, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
    ASN1_OBJECT_free(type);
  };
  for (const std::string& organization : request.organizations) add("O", organization);
  for (const std::string& uid : request.uids) add("1.3.6.1.4.1.57683.2", uid);
  if (!request.common_name.empty()) add("CN", request.common_name);

  X509Ptr issuer_certificate;
  Key issuer_key;
  if (issuer) {
    const Bio pem(BIO_new_mem_buf(issuer->pem.data(), static_cast<int>(issuer->pem.size())));
    issuer_certificate.reset(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
    const Bio key_pem(BIO_new_mem_buf(issuer->key_pem.data(), static_cast<int>(issuer->key_pem.size())));
    issuer_key.reset(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
  }
  X509* signer = issuer_certificate ? issuer_certificate.get() : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  if (request.is_ca) Extend(certificate.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
  if (!request.usage.empty()) Extend(certificate.get(), signer, NID_ext_key_usage, request.usage.c_str());
  X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

  Certificate out;
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  out.der.assign(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  const Bio pem(BIO_new(BIO_s_mem())), key_pem(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(pem.get(), certificate.get());
  PEM_write_bio_PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  out.pem = Contents(pem.get());
  out.key_pem = Contents(key_pem.get());
  return out;
}

}  // namespace apimesh::authn_authz::fake
