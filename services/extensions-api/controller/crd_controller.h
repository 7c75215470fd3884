#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "lib/endpoint/group_server.h"
#include "services/extensions-api/controller/served_definitions.h"
#include "services/extensions-api/controller/unresolvable.h"
#include "services/extensions-api/custom_resources/custom_resource.h"

namespace apimesh::extensions_api {

/// Follows the definitions in the store: accepts their names, serves their resources and then reports that in their
/// status, and removes the objects of definitions that are being deleted. Several replicas may run. All of them compute
/// the same result, and the store decides which of them writes it.
class CrdController {
 public:
  struct Parts {
    storage::StorePtr crds;
    std::shared_ptr<endpoint::GroupServer> server;
    /// Served in addition to the custom resources: the definitions themselves.
    std::vector<endpoint::ServedVersion> own;
    /// Added to the OpenAPI hashes of custom resources: identifies the texts of metadata in their documents.
    std::string openapi_digest;
    std::shared_ptr<UnresolvableResources> unresolvable;
    std::shared_ptr<ServedDefinitions> served;
    CustomSources sources;
    endpoint::EnvironmentPtr environment;
    boost::asio::any_io_executor executor;
    /// How long a definition is served before it becomes Established; zero if there is one replica.
    Duration establish_delay = {};
  };
  explicit CrdController(Parts parts);
  ~CrdController();

  void Start();
  void Stop();
  /// Returns whether all definitions that existed at the start are served.
  bool Synced() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::extensions_api
