#pragma once

// For tests only: a mesh CA and certificates of it, written as PEM files.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <string>

namespace apimesh::rpc {

class TestAuthority {
 public:
  TestAuthority() : key_(EVP_EC_gen("P-256")), certificate_(Sign("mesh-ca", key_.get(), nullptr, nullptr)) {}

  void WriteCa(const std::filesystem::path& file) const { WriteCertificate(file, certificate_.get()); }
  /// A certificate for localhost and 127.0.0.1, for servers and clients, with the mesh identity of the process `name`.
  void WritePair(const std::filesystem::path& cert, const std::filesystem::path& key, const std::string& name) const {
    const std::unique_ptr<EVP_PKEY, FreeKey> pair(EVP_EC_gen("P-256"));
    WriteCertificate(cert, Sign(name, pair.get(), certificate_.get(), key_.get()).get());
    const std::unique_ptr<FILE, CloseFile> out(std::fopen(key.c_str(), "w"));
    PEM_write_PrivateKey(out.get(), pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

 private:
  struct FreeKey { void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); } };
  struct FreeCertificate { void operator()(X509* certificate) const { X509_free(certificate); } };
  struct CloseFile { void operator()(FILE* file) const { std::fclose(file); } };
  using Certificate = std::unique_ptr<X509, FreeCertificate>;

  static void Extend(X509* certificate, X509* issuer, int what, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  /// Without an issuer: a CA that signs itself.
  static Certificate Sign(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
    static int serial = 1;
    Certificate certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* signer = issuer != nullptr ? issuer : certificate.get();
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
    Extend(certificate.get(), signer, NID_basic_constraints, issuer != nullptr ? "CA:FALSE" : "critical,CA:TRUE");
    const std::string names = "DNS:localhost,IP:127.0.0.1,URI:spiffe://apimesh/" + name;
    if (issuer != nullptr) Extend(certificate.get(), signer, NID_subject_alt_name, names.c_str());
    X509_sign(certificate.get(), issuer_key != nullptr ? issuer_key : key, EVP_sha256());
    return certificate;
  }
  static void WriteCertificate(const std::filesystem::path& file, X509* certificate) {
    const std::unique_ptr<FILE, CloseFile> out(std::fopen(file.c_str(), "w"));
    PEM_write_X509(out.get(), certificate);
  }

  std::unique_ptr<EVP_PKEY, FreeKey> key_;
  Certificate certificate_;
};

}  // namespace apimesh::rpc
