#include "lib/net/tls/peer_uri.h"

#include <algorithm>
#include <memory>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace apimesh::net {
namespace {

using Uris = std::vector<std::string>;

Uris UrisOf(X509* certificate) {
  Uris uris;
  auto* names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)), ASN1_STRING_length(uri));
  }
  GENERAL_NAMES_free(names);
  return uris;
}

/// The index under which a context keeps the URIs that its peers must have.
int UrisIndex() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* uris, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<Uris*>(uris); });
  return index;
}

int VerifyUri(int chain_is_valid, X509_STORE_CTX* store) {
  if (chain_is_valid == 0 || X509_STORE_CTX_get_error_depth(store) != 0) return chain_is_valid;
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* wanted = static_cast<const Uris*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), UrisIndex()));
  const Uris found = UrisOf(X509_STORE_CTX_get_current_cert(store));
  if (wanted != nullptr &&
      std::find_first_of(found.begin(), found.end(), wanted->begin(), wanted->end()) != found.end()) {
    return 1;
  }
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

}  // namespace

std::vector<std::string> CertificateUris(const std::string& certificate_der) {
  const auto* data = reinterpret_cast<const unsigned char*>(certificate_der.data());
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      d2i_X509(nullptr, &data, static_cast<long>(certificate_der.size())), &X509_free);
  return certificate ? UrisOf(certificate.get()) : Uris();
}

void RequirePeerUri(ssl_ctx_st* context, int mode, std::vector<std::string> uris) {
  delete static_cast<Uris*>(SSL_CTX_get_ex_data(context, UrisIndex()));
  SSL_CTX_set_ex_data(context, UrisIndex(), new Uris(std::move(uris)));
  SSL_CTX_set_verify(context, mode, &VerifyUri);
}

}  // namespace apimesh::net
