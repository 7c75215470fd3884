#include "lib/credentials/key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "lib/base/openssl_ptr.h"
#include "lib/base/text/base64.h"
#include "lib/meta/object.h"

namespace apimesh::credentials {
namespace {

using openssl::Deleter;
using Pkey = openssl::KeyPtr;
using Bio = openssl::BioPtr;
using Bn = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using EcdsaSig = std::unique_ptr<ECDSA_SIG, Deleter<ECDSA_SIG_free>>;

struct AlgorithmTraits {
  std::string_view name;
  int key_type;
  const char* digest;
  bool pss;
  std::size_t coordinate_bytes;  // ECDSA: half the size of the signature
};
constexpr AlgorithmTraits kTraits[] = {
    {"RS256", EVP_PKEY_RSA, "SHA256", false, 0}, {"RS384", EVP_PKEY_RSA, "SHA384", false, 0},
    {"RS512", EVP_PKEY_RSA, "SHA512", false, 0}, {"PS256", EVP_PKEY_RSA, "SHA256", true, 0},
    {"PS384", EVP_PKEY_RSA, "SHA384", true, 0},  {"PS512", EVP_PKEY_RSA, "SHA512", true, 0},
    {"ES256", EVP_PKEY_EC, "SHA256", false, 32}, {"ES384", EVP_PKEY_EC, "SHA384", false, 48},
    {"ES512", EVP_PKEY_EC, "SHA512", false, 66},
};
const AlgorithmTraits& Traits(Algorithm algorithm) { return kTraits[static_cast<std::size_t>(algorithm)]; }

Bio ReadOnly(std::string_view bytes) { return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()))); }

// Rejects encrypted keys. Without this callback, OpenSSL would prompt for a pass phrase.
int NoPassword(char*, int, int, void*) { return -1; }

std::string BigEndian(const BIGNUM* number, std::size_t size = 0) {
  const std::size_t natural = static_cast<std::size_t>(BN_num_bytes(number));
  std::string bytes(std::max(size, natural), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return bytes;
}

Bn Number(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  EVP_PKEY_get_bn_param(key, name, &number);
  return Bn(number);
}

std::optional<Algorithm> SigningAlgorithm(EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) return Algorithm::kRs256;
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return std::nullopt;
  char name[64] = {};
  std::size_t length = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof name, &length) != 1) return std::nullopt;
  const std::string_view group(name, length);
  if (group == "prime256v1" || group == "P-256") return Algorithm::kEs256;
  if (group == "secp384r1" || group == "P-384") return Algorithm::kEs384;
  if (group == "secp521r1" || group == "P-521") return Algorithm::kEs512;
  return std::nullopt;
}

std::string DerSignature(std::string_view raw) {
  const std::size_t half = raw.size() / 2;
  EcdsaSig signature(ECDSA_SIG_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(raw.data());
  ECDSA_SIG_set0(signature.get(), BN_bin2bn(bytes, static_cast<int>(half), nullptr),
                 BN_bin2bn(bytes + half, static_cast<int>(half), nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  std::string out(reinterpret_cast<char*>(der), size > 0 ? static_cast<std::size_t>(size) : 0);
  OPENSSL_free(der);
  return out;
}

std::string RawSignature(std::string_view der, std::size_t coordinate_bytes) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  EcdsaSig signature(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  if (!signature) return {};
  return BigEndian(ECDSA_SIG_get0_r(signature.get()), coordinate_bytes) +
         BigEndian(ECDSA_SIG_get0_s(signature.get()), coordinate_bytes);
}

Pkey FromParams(const char* type, OSSL_PARAM_BLD* builder) {
  std::unique_ptr<OSSL_PARAM, Deleter<OSSL_PARAM_free>> params(OSSL_PARAM_BLD_to_param(builder));
  std::unique_ptr<EVP_PKEY_CTX, Deleter<EVP_PKEY_CTX_free>> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  return Pkey(key);
}

/// Returns the SubjectPublicKeyInfo, or "" if there is none.
std::string Der(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  std::string bytes(reinterpret_cast<const char*>(der), size > 0 ? static_cast<std::size_t>(size) : 0);
  OPENSSL_free(der);
  return bytes;
}

std::optional<std::string> JwkBytes(const boost::json::object& jwk, std::string_view field) {
  return DecodeBase64Url(meta::FindString(jwk, field));
}

}  // namespace

struct PublicKey::State {
  Pkey key;  // may also contain the private key
  Algorithm algorithm;
  std::string key_id;

  static meta::Result<std::shared_ptr<const State>> Make(Pkey key) {
    const std::optional<Algorithm> algorithm = SigningAlgorithm(key.get());
    if (!algorithm) return meta::InternalError("key must be RSA or ECDSA on P-256, P-384 or P-521");
    const std::string der = Der(key.get());
    if (der.empty()) return meta::InternalError("failed to serialize public key to DER format");
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(der.data()), der.size(), hash);
    std::string id = EncodeBase64Url({reinterpret_cast<char*>(hash), sizeof hash});
    return std::make_shared<const State>(State{std::move(key), *algorithm, std::move(id)});
  }
};

std::optional<Algorithm> ParseAlgorithm(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTraits); ++i) {
    if (kTraits[i].name == name) return static_cast<Algorithm>(i);
  }
  return std::nullopt;
}

std::string_view AlgorithmName(Algorithm algorithm) { return Traits(algorithm).name; }

meta::Result<std::vector<PublicKey>> PublicKey::FromPem(std::string_view pem) {
  std::vector<PublicKey> keys;
  const Bio bio = ReadOnly(pem);
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  while (PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1) {
    const std::string_view label(name);
    const unsigned char* cursor = data;
    Pkey key;
    if (label == "PUBLIC KEY") {
      key.reset(d2i_PUBKEY(nullptr, &cursor, size));
    } else if (label == "RSA PUBLIC KEY") {
      key.reset(d2i_PublicKey(EVP_PKEY_RSA, nullptr, &cursor, size));
    } else if (label == "CERTIFICATE") {
      openssl::CertificatePtr certificate(d2i_X509(nullptr, &cursor, size));
      if (certificate) key.reset(X509_get_pubkey(certificate.get()));
    } else if (label == "RSA PRIVATE KEY" || label == "EC PRIVATE KEY" || label == "PRIVATE KEY") {
      key.reset(d2i_AutoPrivateKey(nullptr, &cursor, size));
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(data, static_cast<std::size_t>(size));
    if (!key) continue;
    ASSIGN_OR_RETURN(std::shared_ptr<const State> state, State::Make(std::move(key)));
    keys.emplace_back().state_ = std::move(state);
  }
  ERR_clear_error();
  if (keys.empty()) return meta::InternalError("data does not contain any valid RSA or ECDSA public keys");
  return keys;
}

meta::Result<PublicKey> PublicKey::FromDer(std::string_view der) {
  const auto* cursor = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const end = cursor + der.size();
  Pkey key(d2i_PUBKEY(nullptr, &cursor, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!key || cursor != end) return meta::InternalError("the data is not a public key in PKIX format");
  ASSIGN_OR_RETURN(std::shared_ptr<const State> state, State::Make(std::move(key)));
  PublicKey result;
  result.state_ = std::move(state);
  return result;
}

meta::Result<PublicKey> PublicKey::FromJwk(const boost::json::object& jwk) {
  std::unique_ptr<OSSL_PARAM_BLD, Deleter<OSSL_PARAM_BLD_free>> builder(OSSL_PARAM_BLD_new());
  const std::string_view type = meta::FindString(jwk, "kty");
  Pkey key;
  if (type == "RSA") {
    const auto n = JwkBytes(jwk, "n"), e = JwkBytes(jwk, "e");
    if (!n || !e || n->size() < 128 || n->size() > 2048 || e->empty() || e->size() > 8) {
      return meta::InternalError("invalid RSA key in key set");
    }
    const Bn modulus(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(n->data()), static_cast<int>(n->size()), nullptr));
    const Bn exponent(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(e->data()), static_cast<int>(e->size()), nullptr));
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
    key = FromParams("RSA", builder.get());
  } else if (type == "EC") {
    const std::string_view curve = meta::FindString(jwk, "crv");
    const std::size_t size = curve == "P-256" ? 32 : curve == "P-384" ? 48 : curve == "P-521" ? 66 : 0;
    const auto x = JwkBytes(jwk, "x"), y = JwkBytes(jwk, "y");
    if (size == 0 || !x || !y || x->size() != size || y->size() != size) {
      return meta::InternalError("invalid EC key in key set");
    }
    const std::string point = "\x04" + *x + *y, group(curve);
    OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group.c_str(), 0);
    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
    key = FromParams("EC", builder.get());
  }
  if (!key) return meta::InternalError("unsupported or invalid key in key set");
  ASSIGN_OR_RETURN(std::shared_ptr<const State> state, State::Make(std::move(key)));
  PublicKey result;
  result.state_ = std::move(state);
  return result;
}

std::string PublicKey::ToDer() const { return Der(state_->key.get()); }

const std::string& PublicKey::KeyId() const { return state_->key_id; }
Algorithm PublicKey::DefaultAlgorithm() const { return state_->algorithm; }

bool PublicKey::Verify(Algorithm algorithm, std::string_view data, std::string_view signature) const {
  const AlgorithmTraits& traits = Traits(algorithm);
  if (EVP_PKEY_get_base_id(state_->key.get()) != traits.key_type) return false;
  std::string der;
  if (traits.key_type == EVP_PKEY_EC) {
    // RFC 7518: each ES algorithm requires a specific curve.
    if (algorithm != state_->algorithm || signature.size() != 2 * traits.coordinate_bytes) return false;
    der = DerSignature(signature);
    signature = der;
  }
  const Digest digest(EVP_MD_CTX_new());
  EVP_PKEY_CTX* context = nullptr;
  const bool good =
      EVP_DigestVerifyInit_ex(digest.get(), &context, traits.digest, nullptr, nullptr, state_->key.get(), nullptr) ==
          1 &&
      (!traits.pss || (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
                       EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_AUTO) == 1)) &&
      EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(data.data()), data.size()) == 1;
  if (!good) ERR_clear_error();
  return good;
}

boost::json::object PublicKey::ToJwk(std::string_view key_id) const {
  EVP_PKEY* key = state_->key.get();
  boost::json::object jwk;
  jwk["use"] = "sig";
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
    jwk["kty"] = "RSA";
    jwk["kid"] = boost::json::string_view(key_id.data(), key_id.size());
    jwk["alg"] = "RS256";
    jwk["n"] = EncodeBase64Url(BigEndian(Number(key, OSSL_PKEY_PARAM_RSA_N).get()));
    jwk["e"] = EncodeBase64Url(BigEndian(Number(key, OSSL_PKEY_PARAM_RSA_E).get()));
    return jwk;
  }
  const AlgorithmTraits& traits = Traits(state_->algorithm);
  jwk["kty"] = "EC";
  jwk["kid"] = boost::json::string_view(key_id.data(), key_id.size());
  jwk["crv"] = traits.coordinate_bytes == 32 ? "P-256" : traits.coordinate_bytes == 48 ? "P-384" : "P-521";
  jwk["alg"] = boost::json::string_view(traits.name.data(), traits.name.size());
  jwk["x"] = EncodeBase64Url(BigEndian(Number(key, OSSL_PKEY_PARAM_EC_PUB_X).get(), traits.coordinate_bytes));
  jwk["y"] = EncodeBase64Url(BigEndian(Number(key, OSSL_PKEY_PARAM_EC_PUB_Y).get(), traits.coordinate_bytes));
  return jwk;
}

meta::Result<PrivateKey> PrivateKey::FromPem(std::string_view pem) {
  const Bio bio = ReadOnly(pem);
  Pkey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassword, nullptr));
  ERR_clear_error();
  if (!key) return meta::InternalError("data does not contain a valid RSA or ECDSA private key");
  ASSIGN_OR_RETURN(std::shared_ptr<const PublicKey::State> state, PublicKey::State::Make(std::move(key)));
  PrivateKey result;
  result.public_.state_ = std::move(state);
  return result;
}

std::string PrivateKey::Sign(std::string_view data) const {
  const PublicKey::State& state = *public_.state_;
  const AlgorithmTraits& traits = Traits(state.algorithm);
  const Digest digest(EVP_MD_CTX_new());
  std::string signature;
  std::size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  if (EVP_DigestSignInit_ex(digest.get(), nullptr, traits.digest, nullptr, nullptr, state.key.get(), nullptr) == 1 &&
      EVP_DigestSign(digest.get(), nullptr, &size, bytes, data.size()) == 1) {
    signature.resize(size);
    if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, data.size()) !=
        1) {
      size = 0;
    }
    signature.resize(size);
  }
  ERR_clear_error();
  return traits.key_type == EVP_PKEY_EC ? RawSignature(signature, traits.coordinate_bytes) : signature;
}

}  // namespace apimesh::credentials
