#include "services/store/net/tls.h"

#include <stdexcept>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "lib/base/log.h"

namespace apimesh::store {
namespace {

std::runtime_error SslError(const std::string& what) {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return std::runtime_error(what + ": " + text);
}

int ChooseH2(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
             unsigned int offered_length, void*) {
  static constexpr unsigned char kSupported[] = "\x02h2\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kSupported, sizeof kSupported - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServerContext::TlsServerContext(TlsFiles files) : files_(std::move(files)) {
  loaded_ = Newest();
  context_ = Load();
}

TlsServerContext::~TlsServerContext() { SSL_CTX_free(context_); }

std::filesystem::file_time_type TlsServerContext::Newest() const {
  auto newest = std::filesystem::file_time_type::min();
  for (const std::string& file : {files_.cert_file, files_.key_file, files_.trusted_ca_file}) {
    std::error_code ignored;
    if (!file.empty()) newest = std::max(newest, std::filesystem::last_write_time(file, ignored));
  }
  return newest;
}

SSL_CTX* TlsServerContext::Load() const {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), files_.at_least_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseH2, nullptr);
  // Sessions are not cached, because a resumed session could belong to a context from before a reload.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  if (SSL_CTX_use_certificate_chain_file(context.get(), files_.cert_file.c_str()) != 1) {
    throw SslError("cannot load certificate " + files_.cert_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files_.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    throw SslError("cannot load private key " + files_.key_file);
  }
  if (!files_.trusted_ca_file.empty()) {
    if (SSL_CTX_load_verify_locations(context.get(), files_.trusted_ca_file.c_str(), nullptr) != 1) {
      throw SslError("cannot load trusted CA " + files_.trusted_ca_file);
    }
    SSL_CTX_set_client_CA_list(context.get(), SSL_load_client_CA_file(files_.trusted_ca_file.c_str()));
  }
  // As in etcd, a trusted CA is sufficient to require a certificate from every client.
  if (files_.client_cert_auth || !files_.trusted_ca_file.empty()) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  SSL_CTX_up_ref(context.get());
  return context.get();
}

SSL_CTX* TlsServerContext::Current() {
  if (const auto newest = Newest(); newest != loaded_) {
    loaded_ = newest;
    try {
      SSL_CTX* fresh = Load();
      SSL_CTX_free(context_);
      context_ = fresh;
      log::Info("loaded the renewed certificate {}", files_.cert_file);
    } catch (const std::runtime_error& error) {
      log::Error("keeping the old certificate: {}", error.what());
    }
  }
  return context_;
}

}  // namespace apimesh::store
