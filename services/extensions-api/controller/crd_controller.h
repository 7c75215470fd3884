#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>

#include "lib/endpoint/group_server.h"
#include "services/extensions-api/custom_resources/custom_resource.h"

namespace apimesh::extensions_api {

/// Follows the definitions in the store: accepts their names, serves their resources and then says so in their status, and removes the objects of
/// those that are being deleted. Several replicas may run: all of them come to the same result, and the store decides who writes it.
class CrdController {
 public:
  struct Parts {
    storage::StorePtr crds;
    std::shared_ptr<endpoint::GroupServer> server;
    /// Served besides the custom resources: the definitions themselves.
    std::vector<endpoint::ServedVersion> own;
    CustomSources sources;
    endpoint::EnvironmentPtr environment;
    boost::asio::any_io_executor executor;
  };
  explicit CrdController(Parts parts);
  ~CrdController();

  void Start();
  void Stop();
  /// All definitions that were there at the start are served.
  bool Synced() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::extensions_api
