#include "services/core-api/groups/core/secret/key_pair.h"

#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace apimesh::core_api {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Freed<&BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;

struct Block {
  std::string type;
  std::string der;
};

/// Reads the next PEM block. Returns nullopt at the end of the text.
std::optional<Block> NextBlock(BIO* text) {
  char *name = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  if (PEM_read_bio(text, &name, &header, &data, &size) != 1) return std::nullopt;
  Block block{name, std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size))};
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_clear_free(data, static_cast<std::size_t>(size));
  return block;
}

Bio Reader(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

bool IsKey(std::string_view type) { return type == "PRIVATE KEY" || type.ends_with(" PRIVATE KEY"); }

std::string ShownTypes(const std::vector<std::string>& types) { return fmt::format("[{}]", fmt::join(types, " ")); }

}  // namespace

std::string CheckKeyPair(std::string_view certificate_pem, std::string_view key_pem) {
  std::vector<std::string> skipped;
  std::string leaf;
  const Bio certificates = Reader(certificate_pem);
  while (const std::optional<Block> block = NextBlock(certificates.get())) {
    if (block->type != "CERTIFICATE") skipped.push_back(block->type);
    if (block->type == "CERTIFICATE" && leaf.empty()) leaf = block->der;
  }
  if (leaf.empty()) {
    if (skipped.empty()) return "tls: failed to find any PEM data in certificate input";
    if (skipped.size() == 1 && skipped[0].ends_with("PRIVATE KEY")) {
      return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs "
             "may have been switched";
    }
    return fmt::format(
        "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following "
        "types: {}",
        ShownTypes(skipped));
  }

  skipped.clear();
  const Bio keys = Reader(key_pem);
  std::optional<Block> key_block = NextBlock(keys.get());
  for (; key_block && !IsKey(key_block->type); key_block = NextBlock(keys.get())) skipped.push_back(key_block->type);
  if (!key_block) {
    if (skipped.empty()) return "tls: failed to find any PEM data in key input";
    if (skipped.size() == 1 && skipped[0] == "CERTIFICATE")
      return "tls: found a certificate rather than a key in the PEM for the private key";
    return fmt::format(
        "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of "
        "the following types: {}",
        ShownTypes(skipped));
  }

  const auto* der = reinterpret_cast<const unsigned char*>(leaf.data());
  const Certificate certificate(d2i_X509(nullptr, &der, static_cast<long>(leaf.size())));
  if (!certificate) return "x509: malformed certificate";
  der = reinterpret_cast<const unsigned char*>(key_block->der.data());
  const Key key(d2i_AutoPrivateKey(nullptr, &der, static_cast<long>(key_block->der.size())));
  if (!key) return "tls: failed to parse private key";
  const EVP_PKEY* own = X509_get0_pubkey(certificate.get());
  const int type = own ? EVP_PKEY_get_base_id(own) : EVP_PKEY_NONE;
  if (type != EVP_PKEY_RSA && type != EVP_PKEY_EC && type != EVP_PKEY_ED25519)
    return "tls: unknown public key algorithm";
  if (type != EVP_PKEY_get_base_id(key.get())) return "tls: private key type does not match public key type";
  if (EVP_PKEY_eq(own, key.get()) != 1) return "tls: private key does not match public key";
  return {};
}

}  // namespace apimesh::core_api
