#include "lib/credentials/issued_certificate.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "lib/base/openssl_ptr.h"

namespace apimesh::credentials {
namespace {

using Names = std::unique_ptr<GENERAL_NAMES, openssl::Deleter<GENERAL_NAMES_free>>;

void ReadNames(const X509* certificate, IssuedCertificate& issued) {
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS && name->type != GEN_EMAIL) continue;
    const ASN1_IA5STRING* const text = name->d.ia5;
    (name->type == GEN_DNS ? issued.dns_names : issued.email_addresses)
        .emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
}

std::optional<IssuedCertificate> Read(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = at + der.size();
  const openssl::CertificatePtr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!certificate || at != end) return std::nullopt;
  EVP_PKEY* const key = X509_get0_pubkey(certificate.get());
  if (key) EVP_PKEY_up_ref(key);
  std::shared_ptr<void> shared(key, [](void* pointer) { EVP_PKEY_free(static_cast<EVP_PKEY*>(pointer)); });
  IssuedCertificate issued{RequestedKey(std::move(shared)),
                           openssl::ToWallTime(X509_get0_notBefore(certificate.get())),
                           openssl::ToWallTime(X509_get0_notAfter(certificate.get())),
                           {},
                           {}};
  ReadNames(certificate.get(), issued);
  return issued;
}

}  // namespace

std::optional<IssuedCertificate> IssuedCertificate::Parse(std::string_view der) {
  std::optional<IssuedCertificate> issued = Read(der);
  ERR_clear_error();  // a remaining error would be attributed to the next TLS connection of this thread
  return issued;
}

}  // namespace apimesh::credentials
