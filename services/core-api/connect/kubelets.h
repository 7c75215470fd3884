#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/http/client.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "services/core-api/connect/kubelet_options.h"
#include "services/core-api/own_api.h"

namespace apimesh::core_api {

/// Returns "host:port" as it is written in a URL, with brackets around an IPv6 address.
std::string HostPort(std::string_view host, std::string_view port);

/// Finds the kubelets of nodes and provides the HTTP clients to connect to them. Thread-safe.
class Kubelets {
 public:
  struct Address {
    std::string host;
    std::string port;
    std::string Url() const { return "https://" + HostPort(host, port); }
  };

  Kubelets(KubeletOptions options, ReadObject read, const Clock& clock);
  /// Reads the Node and returns the address of its kubelet.
  Task<meta::Result<Address>> Find(std::string node) const;
  /// Returns the client that presents the certificate of this server. If `verify` is false, the client accepts any
  /// kubelet certificate.
  const std::shared_ptr<http::Client>& Client(bool verify = true) const { return verify ? client_ : careless_client_; }
  /// Returns the client for nodes/proxy. It never connects to the server's own machine; see ForProxies().
  const std::shared_ptr<http::Client>& ProxyClient() const { return proxy_client_; }

 private:
  const KubeletOptions options_;
  const ReadObject read_;
  std::shared_ptr<http::Client> client_, careless_client_, proxy_client_;
};
using KubeletsPtr = std::shared_ptr<const Kubelets>;

/// Returns the address of the kubelet according to the status of the Node.
meta::Result<Kubelets::Address> KubeletAddress(const meta::Object& node, const std::vector<std::string>& address_types);

}  // namespace apimesh::core_api
