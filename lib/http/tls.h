#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/http/client.h"
#include "lib/http/server.h"

struct ssl_st;

namespace apimesh::http {

struct SslDeleter {
  void operator()(ssl_st* ssl) const;
};
using SslPtr = std::unique_ptr<ssl_st, SslDeleter>;

/// The server's certificates. Looks at the files at most once a second, when a connection comes in; connections that
/// stand keep what they have. Thread-safe.
class ServerTls {
 public:
  /// Throws std::runtime_error naming the file that is wrong.
  explicit ServerTls(TlsOptions options);
  ~ServerTls();
  SslPtr NewSession();

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> Current();
  struct State;
  std::unique_ptr<State> state_;
};

/// A client's trust and certificate, read again when the files change.
class ClientTls {
 public:
  explicit ClientTls(const ClientOptions& options);
  ~ClientTls();
  /// `host` goes into SNI and is checked against the certificate unless the options name another or skip it.
  /// Null with a text in `error` if the files can't be used.
  SslPtr NewSession(const std::string& host, std::string& error);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// DER, leaf first.
std::vector<std::string> PeerCertificates(ssl_st* ssl);

}  // namespace apimesh::http
