#include <stdexcept>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "lib/net/tls/peer_uri.h"
#include "lib/net/tls/record_buffer.h"
#include "lib/net/tls/tls.h"
#include "lib/net/tls/tls_common.h"
#include "lib/net/tls/verify_error.h"

namespace apimesh::net {
namespace {

void TrustPem(SSL_CTX* context, const std::string& pem) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  int count = 0;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    ++count;
  }
  ERR_clear_error();
  if (count == 0) throw std::runtime_error("no certificate in the CA bundle");
}

bool IsIpAddress(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), buffer) == 1 || inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

}  // namespace

struct ClientTls::State {
  ClientTlsOptions options;
  std::mutex mutex;
  FileWatch files;        // guarded by mutex
  SslContextPtr context;  // guarded by mutex; null until it is first used

  State(const ClientTlsOptions& given, const Clock& clock)
      : options(given), files({given.ca_file, given.cert_file, given.key_file}, clock) {}

  SslContextPtr Load() const {
    SslContextPtr next = NewSslContext(false);
    RecordBuffer::Prepare(next.get(), false);
    if (!options.ca_pem.empty()) TrustPem(next.get(), options.ca_pem);
    if (!options.ca_file.empty() && SSL_CTX_load_verify_file(next.get(), options.ca_file.c_str()) != 1) {
      throw TlsFailure("can't use the CAs in " + options.ca_file);
    }
    // Reading the system's CAs takes about 30 ms, so it is skipped if nothing is verified.
    if (options.ca_pem.empty() && options.ca_file.empty() && !options.insecure_skip_verify)
      SSL_CTX_set_default_verify_paths(next.get());
    if (!options.cert_file.empty()) UseCertificate(next.get(), options.cert_file, options.key_file);
    if (!options.cert_pem.empty()) UseCertificatePem(next.get(), options.cert_pem, options.key_pem);
    if (options.insecure_skip_verify) {
      SSL_CTX_set_verify(next.get(), SSL_VERIFY_NONE, nullptr);
    } else {
      VerifyServers(next.get());
    }
    if (!options.server_uri.empty()) RequirePeerUri(next.get(), SSL_VERIFY_PEER, {options.server_uri});
    const std::string offer = AlpnList({options.protocol});
    SSL_CTX_set_alpn_protos(next.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                            static_cast<unsigned>(offer.size()));
    return next;
  }
};

ClientTls::ClientTls(const ClientTlsOptions& options, const Clock& clock)
    : state_(std::make_unique<State>(options, clock)) {}
ClientTls::~ClientTls() = default;

SslPtr ClientTls::NewSession(const std::string& host, std::string& error) {
  SslContextPtr context;
  try {
    const std::lock_guard lock(state_->mutex);
    if (!state_->context || state_->files.Changed()) state_->context = state_->Load();
    context = state_->context;
  } catch (const std::exception& failure) {
    error = failure.what();
    return nullptr;
  }
  SslPtr ssl(SSL_new(context.get()));
  const std::string& name = state_->options.server_name.empty() ? host : state_->options.server_name;
  if (IsIpAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl.get(), name.c_str());
    SSL_set1_host(ssl.get(), name.c_str());
  }
  SSL_set_connect_state(ssl.get());
  return ssl;
}

}  // namespace apimesh::net
