#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/http/proxy/dialer.h"

namespace apimesh::http {

struct ConnectProxyOptions {
  const Clock& clock;
  std::string url;          // "http(s)://host:port"; empty: `socket_path`
  std::string socket_path;  // of a Unix socket
  net::ClientTlsOptions tls;
  /// Counts what Dial() does. `stage`: "connect" (to the proxy) or "proxy" (from there to the server).
  std::function<void()> started = [] {};
  std::function<void(const char* stage)> failed = [](const char*) {};
  std::function<void(Duration taken)> connected = [](Duration) {};
};

/// A proxy that opens connections at the request CONNECT. Errors have the texts of kube-apiserver. Throws
/// std::invalid_argument if the URL is invalid.
std::shared_ptr<Dialer> NewConnectProxy(ConnectProxyOptions options);

}  // namespace apimesh::http
