#include "lib/net/tls/tls_common.h"

#include <stdexcept>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "lib/net/tls/tls.h"

namespace apimesh::net {
namespace {

constexpr char kTls13Suites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kTls12Suites[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

struct SuiteName {
  const char* go;
  const char* openssl;
};
constexpr SuiteName kSuiteNames[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    // TLS 1.3 suites are always enabled; they are listed here so that the flag accepts their names.
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
};

std::string OpenSslName(const std::string& go_name) {
  for (const SuiteName& suite : kSuiteNames) {
    if (go_name == suite.go) return suite.openssl;
  }
  throw std::runtime_error("Cipher suite " + go_name + " not supported or doesn't exist");
}

}  // namespace

void SslDeleter::operator()(ssl_st* ssl) const { SSL_free(ssl); }

std::vector<std::string> PeerCertificates(ssl_st* ssl) {
  std::vector<std::string> certificates;
  const auto add = [&certificates](X509* certificate) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate, &der);
    if (size > 0) certificates.emplace_back(reinterpret_cast<char*>(der), size);
    OPENSSL_free(der);
  };
  X509* leaf = SSL_get0_peer_certificate(ssl);
  if (leaf == nullptr) return certificates;
  add(leaf);
  // On a server the chain does not include the leaf; a resumed session has only the leaf.
  if (const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl)) {
    for (int i = SSL_is_server(ssl) ? 0 : 1; i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  }
  return certificates;
}

std::runtime_error TlsFailure(const std::string& context) {
  char text[200] = "unknown error";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return std::runtime_error(context + ": " + text);
}

SslContextPtr NewSslContext(bool server) {
  SslContextPtr context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()), SSL_CTX_free);
  if (!context) throw TlsFailure("TLS context");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Idle connections hold no buffers; a read takes all available data with one system call.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);
  // Sessions are resumed with tickets, which clients keep. A cache would hold the certificates of anonymous clients, up
  // to 100 KB each, for 20,480 sessions.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_ciphersuites(context.get(), kTls13Suites);
  SSL_CTX_set_cipher_list(context.get(), kTls12Suites);
  SSL_CTX_set1_groups_list(context.get(), "X25519:P-256:P-384");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  return context;
}

std::string AlpnList(const std::vector<std::string>& protocols) {
  std::string list;
  for (const std::string& protocol : protocols) (list += static_cast<char>(protocol.size())) += protocol;
  return list;
}

void UseCertificate(ssl_ctx_st* context, const std::string& cert_file, const std::string& key_file) {
  if (SSL_CTX_use_certificate_chain_file(context, cert_file.c_str()) != 1) {
    throw TlsFailure("can't use the certificate in " + cert_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw TlsFailure("can't use the private key in " + key_file);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    throw TlsFailure("the key in " + key_file + " does not belong to the certificate in " + cert_file);
  }
}

void UseCertificatePem(ssl_ctx_st* context, const std::string& certificates, const std::string& key) {
  using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
  const BioPtr chain(BIO_new_mem_buf(certificates.data(), static_cast<int>(certificates.size())), &BIO_free);
  const BioPtr secret(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())), &BIO_free);
  using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
  const CertificatePtr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr), &X509_free);
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) throw TlsFailure("can't use the certificate");
  for (;;) {
    const CertificatePtr next(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr), &X509_free);
    if (!next) break;
    SSL_CTX_add1_chain_cert(context, next.get());
  }
  ERR_clear_error();
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> private_key(
      PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  if (!private_key || SSL_CTX_use_PrivateKey(context, private_key.get()) != 1)
    throw TlsFailure("can't use the private key");
  if (SSL_CTX_check_private_key(context) != 1) throw TlsFailure("the key does not belong to the certificate");
}

void UseVersionAndCiphers(ssl_ctx_st* context, const std::string& min_version, const std::vector<std::string>& suites) {
  if (min_version == "VersionTLS13") {
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  } else if (min_version == "VersionTLS10" || min_version == "VersionTLS11") {
    SSL_CTX_set_min_proto_version(context, min_version == "VersionTLS10" ? TLS1_VERSION : TLS1_1_VERSION);
  } else if (!min_version.empty() && min_version != "VersionTLS12") {
    throw std::runtime_error("unknown tls version \"" + min_version + "\"");
  }
  std::string list;
  for (const std::string& suite : suites) {
    const std::string name = OpenSslName(suite);
    if (!name.empty()) list += (list.empty() ? "" : ":") + name;
  }
  if (!list.empty() && SSL_CTX_set_cipher_list(context, list.c_str()) != 1) throw TlsFailure("cipher suites " + list);
}

void UseCurves(ssl_ctx_st* context, const std::vector<std::string>& curves) {
  struct Curve {
    std::string_view number, name;
  };
  // As in Go, the order of the flag does not count. The hybrids with ML-KEM are not in this library.
  constexpr Curve kCurves[] = {{"29", "X25519"}, {"23", "P-256"}, {"24", "P-384"}, {"25", "P-521"}};
  if (curves.empty()) return;
  std::string list;
  for (const Curve& curve : kCurves) {
    if (std::find(curves.begin(), curves.end(), curve.number) == curves.end()) continue;
    list += (list.empty() ? "" : ":") + std::string(curve.name);
  }
  if (list.empty()) throw std::runtime_error("--tls-curve-preferences: none of these key exchanges is supported");
  if (SSL_CTX_set1_groups_list(context, list.c_str()) != 1) throw TlsFailure("key exchanges " + list);
}

FileWatch::FileWatch(std::vector<std::string> files, const Clock& clock)
    : files_(std::move(files)),
      clock_(clock),
      fingerprint_(Fingerprint()),
      next_look_(clock.Steady() + std::chrono::seconds(1)) {}

bool FileWatch::Changed() {
  const SteadyTime now = clock_.Steady();
  if (now < next_look_) return false;
  next_look_ = now + std::chrono::seconds(1);
  std::string fingerprint = Fingerprint();
  if (fingerprint == fingerprint_) return false;
  fingerprint_ = std::move(fingerprint);
  return true;
}

std::string FileWatch::Fingerprint() const {
  std::string text;
  for (const std::string& file : files_) {
    struct stat facts{};
    if (!file.empty() && ::stat(file.c_str(), &facts) == 0) {
      text += std::to_string(facts.st_ino) + ":" + std::to_string(facts.st_size) + ":" +
              std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec) + ";";
    } else {
      text += "-;";
    }
  }
  return text;
}

}  // namespace apimesh::net
