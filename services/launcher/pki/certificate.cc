#include "services/launcher/pki/certificate.h"

#include <memory>
#include <stdexcept>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "lib/base/openssl_ptr.h"

namespace apimesh::launcher {
namespace {

using openssl::Deleter;
using Key = openssl::KeyPtr;
using Certificate = openssl::CertificatePtr;
using Bio = openssl::BioPtr;

void Check(bool ok, const char* what) {
  if (ok) return;
  char text[256];
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  throw std::runtime_error(std::string("making a certificate: ") + what + ": " + text);
}

Key NewKey() {
  Key key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "key");
  return key;
}

std::string Text(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string KeyPem(const Key& key) {
  Bio bio(BIO_new(BIO_s_mem()));
  // The format is SEC1 ("EC PRIVATE KEY"), which every tool reads.
  Check(PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "write key");
  return Text(bio);
}

std::string CertificatePem(const Certificate& certificate) {
  Bio bio(BIO_new(BIO_s_mem()));
  Check(PEM_write_bio_X509(bio.get(), certificate.get()) == 1, "write certificate");
  return Text(bio);
}

Certificate ParseCertificate(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

Key ParseKey(std::string_view pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  Check(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

void AddName(X509_NAME* name, const char* field, const std::string& value) {
  Check(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                   static_cast<int>(value.size()), -1, 0) == 1,
        "name");
}

/// Creates a certificate that lacks only its extensions and signature.
Certificate Blank(const Key& key, const std::string& common_name, const std::vector<std::string>& organizations,
                  std::chrono::hours lifetime) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  unsigned char serial[16];
  Check(RAND_bytes(serial, sizeof serial) == 1, "random");
  serial[0] &= 0x7f;
  std::unique_ptr<BIGNUM, Deleter<BN_free>> number(BN_bin2bn(serial, sizeof serial, nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -300);  // tolerates differing clocks
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), std::chrono::seconds(lifetime).count());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  for (const std::string& organization : organizations) AddName(name, "O", organization);
  AddName(name, "CN", common_name);
  Check(X509_set_pubkey(certificate.get(), key.get()) == 1, "public key");
  return certificate;
}

void AddUsages(X509* certificate, X509* issuer, const CertificateRequest& request) {
  AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature,keyEncipherment");
  std::string usages;
  if (request.server_auth) usages = "serverAuth";
  if (request.client_auth) usages += usages.empty() ? "clientAuth" : ",clientAuth";
  AddExtension(certificate, issuer, NID_ext_key_usage, usages);
  std::string names;
  for (const std::string& dns : request.dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + dns;
  for (const std::string& ip : request.ip_addresses) names += (names.empty() ? "IP:" : ",IP:") + ip;
  if (!request.uri.empty()) names += (names.empty() ? "URI:" : ",URI:") + request.uri;
  if (!names.empty()) AddExtension(certificate, issuer, NID_subject_alt_name, names);
}

}  // namespace

CertifiedKey NewAuthority(const std::string& common_name, std::chrono::hours lifetime) {
  const Key key = NewKey();
  const Certificate certificate = Blank(key, common_name, {}, lifetime);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate.get(), certificate.get(), NID_key_usage,
               "critical,digitalSignature,keyEncipherment,keyCertSign");
  AddExtension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  Check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "sign");
  return {CertificatePem(certificate), KeyPem(key)};
}

CertifiedKey NewCertificate(const CertificateRequest& request, const CertifiedKey& authority) {
  const Certificate issuer = ParseCertificate(authority.certificate_pem);
  const Key issuer_key = ParseKey(authority.key_pem);
  Check(issuer && issuer_key, "read the authority");
  const Key key = NewKey();
  const Certificate certificate = Blank(key, request.common_name, request.organizations, request.lifetime);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  AddExtension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid");
  AddUsages(certificate.get(), issuer.get(), request);
  Check(X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) > 0, "sign");
  return {CertificatePem(certificate), KeyPem(key)};
}

CertifiedKey NewSelfSigned(const CertificateRequest& request) {
  const CertifiedKey authority = NewAuthority(request.common_name + "-ca", request.lifetime);
  CertifiedKey pair = NewCertificate(request, authority);
  pair.certificate_pem += authority.certificate_pem;  // so that clients can pin the chain from one file
  return pair;
}

KeyPair NewKeyPair() {
  const Key key = NewKey();
  Bio bio(BIO_new(BIO_s_mem()));
  Check(PEM_write_bio_PUBKEY(bio.get(), key.get()) == 1, "write public key");
  return {KeyPem(key), Text(bio)};
}

std::string CertificateAndKeyError(const std::string& certificate_pem, std::string_view key_pem) {
  const Certificate certificate = ParseCertificate(certificate_pem);
  const Key key = ParseKey(key_pem);
  ERR_clear_error();
  const auto has = [](std::string_view pem, const char* label) { return pem.find(label) != pem.npos; };
  if (!certificate) {
    return has(certificate_pem, "-----BEGIN CERTIFICATE-----")
               ? "x509: malformed certificate"
               : "tls: failed to find any PEM data in certificate input";
  }
  if (!key)
    return has(key_pem, "PRIVATE KEY-----") ? "tls: failed to parse private key"
                                            : "tls: failed to find any PEM data in key input";
  const bool same_type = EVP_PKEY_base_id(X509_get0_pubkey(certificate.get())) == EVP_PKEY_base_id(key.get());
  if (!same_type) return "tls: private key type does not match public key type";
  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits ? "" : "tls: private key does not match public key";
}

double RemainingDays(const std::string& certificate_pem) {
  const Certificate certificate = ParseCertificate(certificate_pem);
  int days = 0, seconds = 0;
  if (!certificate || ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate.get())) != 1) return 0;
  return days + seconds / 86400.0;
}

double RemainingLife(const std::string& certificate_pem) {
  const Certificate certificate = ParseCertificate(certificate_pem);
  if (!certificate) return 0;
  int days = 0, seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate.get()), X509_get0_notAfter(certificate.get())) !=
      1)
    return 0;
  const double lifetime = days + seconds / 86400.0;
  return lifetime > 0 ? RemainingDays(certificate_pem) / lifetime : 0;
}

}  // namespace apimesh::launcher
