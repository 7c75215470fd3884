#include "lib/http/test_certificates.h"

#include <fstream>
#include <memory>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const { Free(object); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Freer<X509, X509_free>>;
struct BioFreer {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioFreer>;

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, size);
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

TestCertificate MakeCertificate(const TestCertificateRequest& request, const TestCertificate* issuer) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), request.valid_from);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_until);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto add = [subject](const char* field, const std::string& value) {
    ASN1_OBJECT* type = OBJ_txt2obj(field, 0);
    X509_NAME_add_entry_by_OBJ(subject, type, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.c_str()), -1,
                               -1, 0);
    ASN1_OBJECT_free(type);
  };
  for (const std::string& organization : request.organizations) add("O", organization);
  for (const std::string& uid : request.uids) add("1.3.6.1.4.1.57683.2", uid);
  if (!request.common_name.empty()) add("CN", request.common_name);

  CertificatePtr issuer_certificate;
  KeyPtr issuer_key;
  if (issuer != nullptr) {
    const BioPtr certificate_bio(
        BIO_new_mem_buf(issuer->certificate_pem.data(), static_cast<int>(issuer->certificate_pem.size())));
    issuer_certificate.reset(PEM_read_bio_X509(certificate_bio.get(), nullptr, nullptr, nullptr));
    const BioPtr key_bio(BIO_new_mem_buf(issuer->key_pem.data(), static_cast<int>(issuer->key_pem.size())));
    issuer_key.reset(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  }
  X509* signer = issuer_certificate ? issuer_certificate.get() : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  if (request.is_ca) AddExtension(certificate.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
  std::string names;
  for (const std::string& name : request.dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  if (!request.ip.empty()) names += (names.empty() ? "IP:" : ",IP:") + request.ip;
  if (!request.uri.empty()) names += (names.empty() ? "URI:" : ",URI:") + request.uri;
  if (!names.empty()) AddExtension(certificate.get(), signer, NID_subject_alt_name, names);
  if (!request.usage.empty()) AddExtension(certificate.get(), signer, NID_ext_key_usage, request.usage);
  X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

  const BioPtr certificate_out(BIO_new(BIO_s_mem())), key_out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_out.get(), certificate.get());
  PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  TestCertificate made{Contents(certificate_out.get()), Contents(key_out.get()),
                       std::string(reinterpret_cast<char*>(der), static_cast<std::size_t>(size))};
  OPENSSL_free(der);
  return made;
}

ServerOptions TlsServerIn(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const TestCertificate made = MakeCertificate({.common_name = "server", .ip = "127.0.0.1"});
  std::ofstream(folder / "cert.pem") << made.certificate_pem;
  std::ofstream(folder / "key.pem") << made.key_pem;
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls_options.cert_file = folder / "cert.pem";
  options.tls_options.key_file = folder / "key.pem";
  return options;
}

}  // namespace apimesh::http
