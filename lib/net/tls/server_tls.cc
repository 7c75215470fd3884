#include <stdexcept>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "lib/base/log.h"
#include "lib/base/text/text.h"
#include "lib/net/tls/peer_uri.h"
#include "lib/net/tls/record_buffer.h"
#include "lib/net/tls/tls.h"
#include "lib/net/tls/tls_common.h"

namespace apimesh::net {
namespace {

constexpr unsigned char kSessionContext[] = "apimesh";

std::vector<std::string> NamesOf(SSL_CTX* context) {
  std::vector<std::string> names;
  X509* certificate = SSL_CTX_get0_certificate(context);
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       ASN1_STRING_length(name->d.dNSName));
  }
  GENERAL_NAMES_free(alternatives);
  if (names.empty()) {
    char common_name[256];
    const int size =
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common_name, sizeof(common_name));
    if (size > 0) names.emplace_back(common_name, size);
  }
  return names;
}

// `argument` is the list of the supported protocols, encoded by AlpnList().
int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                   unsigned size, void* argument) {
  const auto& ours = *static_cast<const std::string*>(argument);
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(ours.data()),
                                           static_cast<unsigned>(ours.size()), offered, size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Accepts any certificate, because authn-authz verifies it. A session ticket holds only the leaf, so a client that
// sends intermediates gets no tickets: a resumed session would lose the intermediates.
int AcceptAnyCertificate(X509_STORE_CTX* store, void*) {
  const STACK_OF(X509)* chain = X509_STORE_CTX_get0_untrusted(store);
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (ssl != nullptr && chain != nullptr && sk_X509_num(chain) > 1) SSL_set_num_tickets(ssl, 0);
  return 1;
}

}  // namespace

struct ServerTls::Loaded {
  std::string protocols;  // for ALPN; the contexts refer to it
  SslContextPtr default_context;
  std::map<std::string, SslContextPtr> by_name;

  // "*.example.com" matches one label.
  SSL_CTX* For(const std::string& name) const {
    if (const auto found = by_name.find(name); found != by_name.end()) return found->second.get();
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
      if (const auto found = by_name.find("*" + name.substr(dot)); found != by_name.end()) return found->second.get();
    }
    return nullptr;
  }
};

struct ServerTls::State {
  ServerTlsOptions options;
  std::mutex mutex;
  FileWatch files;                       // guarded by mutex
  std::shared_ptr<const Loaded> loaded;  // guarded by mutex

  static std::vector<std::string> FilesOf(const ServerTlsOptions& options) {
    std::vector<std::string> files{options.cert_file, options.key_file};
    for (const ServerTlsOptions::Sni& sni : options.sni) files.insert(files.end(), {sni.cert_file, sni.key_file});
    files.insert(files.end(), options.client_ca_files.begin(), options.client_ca_files.end());
    return files;
  }
  State(ServerTlsOptions given, const Clock& clock) : options(std::move(given)), files(FilesOf(options), clock) {
    loaded = Load();
  }

  static int ChooseBySni(SSL* ssl, int*, void* argument) {
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
    if (SSL_CTX* context = static_cast<const Loaded*>(argument)->For(LowerCase(name))) SSL_set_SSL_CTX(ssl, context);
    return SSL_TLSEXT_ERR_OK;
  }

  SslContextPtr NewContext(const std::string& cert_file, const std::string& key_file, std::string& protocols) const {
    SslContextPtr context = NewSslContext(true);
    RecordBuffer::Prepare(context.get(), true, options.records_per_key);
    UseCertificate(context.get(), cert_file, key_file);
    UseVersionAndCiphers(context.get(), options.min_version, options.cipher_suites);
    UseCurves(context.get(), options.curves);
    SSL_CTX_set_alpn_select_cb(context.get(), &SelectProtocol, &protocols);
    SSL_CTX_set_session_id_context(context.get(), kSessionContext, sizeof(kSessionContext) - 1);
    if (options.client_certificate == ServerTlsOptions::ClientCertificate::kNone) return context;
    const bool required = options.client_certificate == ServerTlsOptions::ClientCertificate::kRequire;
    const int mode = SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    SSL_CTX_set_verify(context.get(), mode, nullptr);
    if (required && !options.client_uris.empty()) RequirePeerUri(context.get(), mode, options.client_uris);
    if (!required) SSL_CTX_set_cert_verify_callback(context.get(), &AcceptAnyCertificate, nullptr);
    STACK_OF(X509_NAME)* names = sk_X509_NAME_new_null();
    for (const std::string& file : options.client_ca_files) {
      const bool listed = SSL_add_file_cert_subjects_to_stack(names, file.c_str()) == 1;
      if (!listed || SSL_CTX_load_verify_file(context.get(), file.c_str()) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        throw TlsFailure("can't use the CAs in " + file);
      }
    }
    SSL_CTX_set_client_CA_list(context.get(), names);
    return context;
  }

  std::shared_ptr<const Loaded> Load() const {
    auto next = std::make_shared<Loaded>();
    next->protocols = AlpnList(options.protocols);
    next->default_context = NewContext(options.cert_file, options.key_file, next->protocols);
    for (const ServerTlsOptions::Sni& sni : options.sni) {
      SslContextPtr context = NewContext(sni.cert_file, sni.key_file, next->protocols);
      for (const std::string& name : sni.names.empty() ? NamesOf(context.get()) : sni.names) {
        next->by_name.emplace(LowerCase(name), context);  // the first certificate with this name is used
      }
    }
    SSL_CTX_set_tlsext_servername_callback(next->default_context.get(), &ChooseBySni);
    SSL_CTX_set_tlsext_servername_arg(next->default_context.get(), next.get());
    return next;
  }
};

ServerTls::ServerTls(ServerTlsOptions options, const Clock& clock)
    : state_(std::make_unique<State>(std::move(options), clock)) {}
ServerTls::~ServerTls() = default;

std::shared_ptr<const ServerTls::Loaded> ServerTls::Current() {
  const std::lock_guard lock(state_->mutex);
  if (state_->files.Changed()) {
    try {
      state_->loaded = state_->Load();
      log::Info("certificates read again");
    } catch (const std::exception& error) {
      log::Error("keeping the old certificates: {}", error.what());
    }
  }
  return state_->loaded;
}

SslPtr ServerTls::NewSession() {
  const std::shared_ptr<const Loaded> loaded = Current();
  SslPtr ssl(SSL_new(loaded->default_context.get()));
  if (!ssl) return ssl;
  // The SNI callback reads `loaded` during the handshake, when a reload may have replaced it; so the session keeps it
  // alive.
  static const int index =
      SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, [](void*, void* owner, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<std::shared_ptr<const Loaded>*>(owner);
      });
  SSL_set_ex_data(ssl.get(), index, new std::shared_ptr<const Loaded>(loaded));
  SSL_set_accept_state(ssl.get());
  return ssl;
}

}  // namespace apimesh::net
