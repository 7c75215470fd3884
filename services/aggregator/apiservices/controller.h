#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/mesh/delegate/delegate.h"
#include "lib/service/metrics.h"
#include "lib/storage/store.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/extensions/extension_server.h"

namespace apimesh::aggregator {

/// Reconciles APIServices with routes: registers the group-versions of the chain, resolves the services of external
/// APIServices, checks whether these servers respond, and publishes them with their availability to the route table.
class ApiServiceController {
 public:
  struct Parts {
    const Clock& clock;
    storage::StorePtr store;                    // stores the APIServices
    std::shared_ptr<mesh::DelegateClient> own;  // the server of APIServices in this process
    std::shared_ptr<mesh::DelegateClient> core_api;
    std::shared_ptr<RouteTable> routes;
    boost::asio::any_io_executor executor;
    boost::asio::any_io_executor parser;  // parses the documents of external servers
    std::string proxy_cert_file, proxy_key_file;
    bool endpoint_routing = false;
    bool reject_redirects = true;
    ExtensionInputs extensions;
    service::Metrics& metrics;
  };
  explicit ApiServiceController(Parts parts);
  ~ApiServiceController();

  void Start();
  void Stop();
  /// Must be called after each change of the routes. Thread-safe.
  void RoutesChanged();
  /// Whether all group-versions of the chain are registered.
  bool Synced() const;
  /// Whether the servers outside the mesh are known, and are checked from now on.
  bool ChecksExternals() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::aggregator
