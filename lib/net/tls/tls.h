#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/net/tls/tls_options.h"

struct ssl_st;

namespace apimesh::net {

struct SslDeleter {
  void operator()(ssl_st* ssl) const;
};
using SslPtr = std::unique_ptr<ssl_st, SslDeleter>;

/// The server's certificates. The files are checked at most once per second, when a connection is accepted; existing
/// connections keep their certificates. Thread-safe.
class ServerTls {
 public:
  /// Throws std::runtime_error with the name of the invalid file.
  ServerTls(ServerTlsOptions options, const Clock& clock);
  ~ServerTls();
  SslPtr NewSession();

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> Current();
  struct State;
  std::unique_ptr<State> state_;
};

/// A client's CAs and certificate, read again when the files change.
class ClientTls {
 public:
  ClientTls(const ClientTlsOptions& options, const Clock& clock);
  ~ClientTls();
  /// `host` is sent as SNI and checked against the certificate, unless the options specify another name or skip the
  /// check. Returns nullptr, with a text in `error`, if the files cannot be used.
  SslPtr NewSession(const std::string& host, std::string& error);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// DER, leaf first.
std::vector<std::string> PeerCertificates(ssl_st* ssl);

}  // namespace apimesh::net
