#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

#include "lib/rpc/delegate.h"
#include "lib/storage/store.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// Keeps APIServices and routes in step: registers the group-versions of the chain, finds the servers behind APIServices
/// with a service, checks whether they answer, and gives the route table those that do.
class ApiServiceController {
 public:
  struct Parts {
    storage::StorePtr store;                    // of APIServices
    std::shared_ptr<rpc::DelegateClient> own;   // who serves them
    std::shared_ptr<rpc::DelegateClient> core_api;
    std::shared_ptr<RouteTable> routes;
    boost::asio::any_io_executor executor;
    std::string proxy_cert_file, proxy_key_file;
    bool endpoint_routing = false;
  };
  explicit ApiServiceController(Parts parts);
  ~ApiServiceController();

  void Start();
  void Stop();
  /// The chain serves something else now. From any thread.
  void RoutesChanged();
  /// All group-versions of the chain are registered.
  bool Synced() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::aggregator
