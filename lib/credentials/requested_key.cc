#include "lib/credentials/requested_key.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "lib/base/openssl_ptr.h"

namespace apimesh::credentials {
namespace {

using Request = std::unique_ptr<X509_REQ, openssl::Deleter<X509_REQ_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, openssl::Deleter<EVP_MD_CTX_free>>;

EVP_PKEY* KeyOf(const std::shared_ptr<void>& key) { return static_cast<EVP_PKEY*>(key.get()); }

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// Returns the name of a curve that Go supports; "" for others and for curves that are described by parameters.
std::string CurveOf(EVP_PKEY* key) {
  int is_explicit = 0;
  if (EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &is_explicit) != 1 || is_explicit)
    return "";
  char name[64] = {};
  if (EVP_PKEY_get_group_name(key, name, sizeof name, nullptr) != 1) return "";
  switch (OBJ_txt2nid(name)) {
    case NID_secp224r1: return "P-224";
    case NID_X9_62_prime256v1: return "P-256";
    case NID_secp384r1: return "P-384";
    case NID_secp521r1: return "P-521";
    default: return "";
  }
}

/// For every function here: a remaining error would be attributed to the next TLS connection of this thread.
struct ErrorsCleared {
  ~ErrorsCleared() { ERR_clear_error(); }
};

}  // namespace

std::optional<RequestedKey> RequestedKey::FromPkix(std::string_view der) {
  const ErrorsCleared cleared;
  const unsigned char* at = Bytes(der);
  openssl::KeyPtr key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (!key || at != Bytes(der) + der.size()) return std::nullopt;
  switch (EVP_PKEY_get_base_id(key.get())) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_ED25519:
    case EVP_PKEY_X25519:
    case EVP_PKEY_DSA: break;
    case EVP_PKEY_EC:
      if (!CurveOf(key.get()).empty()) break;
      return std::nullopt;
    default: return std::nullopt;
  }
  return RequestedKey(
      std::shared_ptr<void>(key.release(), [](void* pointer) { EVP_PKEY_free(static_cast<EVP_PKEY*>(pointer)); }));
}

std::optional<RequestedKey> RequestedKey::FromRequest(std::string_view der) {
  const ErrorsCleared cleared;
  const unsigned char* at = Bytes(der);
  const Request request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  if (!request || at != Bytes(der) + der.size()) return std::nullopt;
  EVP_PKEY* const found = X509_REQ_get0_pubkey(request.get());
  // Go accepts keys of types that it does not know.
  if (found && EVP_PKEY_get_base_id(found) == EVP_PKEY_EC && CurveOf(found).empty()) return std::nullopt;
  if (!found) return RequestedKey(nullptr);
  EVP_PKEY_up_ref(found);
  return RequestedKey(
      std::shared_ptr<void>(found, [](void* pointer) { EVP_PKEY_free(static_cast<EVP_PKEY*>(pointer)); }));
}

RequestedKey::Type RequestedKey::GetType() const {
  if (!key_) return Type::kOther;
  switch (EVP_PKEY_get_base_id(KeyOf(key_))) {
    case EVP_PKEY_ED25519: return Type::kEd25519;
    case EVP_PKEY_EC: return Type::kEc;
    case EVP_PKEY_RSA: return Type::kRsa;
    default: return Type::kOther;
  }
}

std::string RequestedKey::Curve() const { return CurveOf(KeyOf(key_)); }

int RequestedKey::ModulusBits() const { return EVP_PKEY_get_size(KeyOf(key_)) * 8; }

bool RequestedKey::HasSigned(std::string_view text, std::string_view signature) const {
  const ErrorsCleared cleared;
  const Digest digest(EVP_MD_CTX_new());
  const Type type = GetType();
  if (type == Type::kOther) return false;
  EVP_PKEY_CTX* context = nullptr;  // owned by `digest`
  const EVP_MD* const hash = type == Type::kEd25519 ? nullptr : EVP_sha256();
  if (EVP_DigestVerifyInit(digest.get(), &context, hash, nullptr, KeyOf(key_)) != 1) return false;
  if (type == Type::kRsa && (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) != 1 ||
                             EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_AUTO) != 1)) {
    return false;
  }
  return EVP_DigestVerify(digest.get(), Bytes(signature), signature.size(), Bytes(text), text.size()) == 1;
}

bool RequestedKey::operator==(const RequestedKey& other) const {
  return key_ && other.key_ && EVP_PKEY_eq(KeyOf(key_), KeyOf(other.key_)) == 1;
}

}  // namespace apimesh::credentials
