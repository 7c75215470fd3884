#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/http/client.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "services/core-api/connect/kubelet_options.h"
#include "services/core-api/groups/authentication/token_request.h"

namespace apimesh::core_api {

/// An address as a URL has it: host and port, with brackets around IPv6.
std::string HostPort(std::string_view host, std::string_view port);

/// The kubelets of all nodes: where they are and how to talk to them. Thread-safe.
class Kubelets {
 public:
  struct Place {
    std::string host;
    std::string port;
    std::string Url() const { return "https://" + HostPort(host, port); }
  };

  Kubelets(KubeletOptions options, ReadObject read);
  /// Where the node's kubelet is, by its status.
  Task<meta::Result<Place>> Find(std::string node) const;
  /// The client with our certificate. `verify` false: whatever certificate the kubelet has.
  const std::shared_ptr<http::Client>& Client(bool verify = true) const { return verify ? client_ : careless_client_; }
  /// The same for nodes/proxy: never connects to the server's own machine (ForProxies).
  const std::shared_ptr<http::Client>& ProxyClient() const { return proxy_client_; }

 private:
  const KubeletOptions options_;
  const ReadObject read_;
  std::shared_ptr<http::Client> client_, careless_client_, proxy_client_;
};
using KubeletsPtr = std::shared_ptr<const Kubelets>;

/// The place that a Node's status gives.
meta::Result<Kubelets::Place> KubeletPlace(const meta::Object& node, const std::vector<std::string>& address_types);

}  // namespace apimesh::core_api
