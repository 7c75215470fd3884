#pragma once

#include "lib/endpoint/group_server.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {

/// The API to which kinds, admission plugins and post-start hooks of this process send their requests. It has all
/// built-in resources: an eviction reads PodDisruptionBudgets and plugins write namespaces, whichever groups this
/// process serves to clients (--api-groups). The caches of resources that it does not serve are filled when they are
/// first used.
class PluginApi {
 public:
  /// `server` answers clients. `options` are those with which it was created.
  PluginApi(const Flags& flags, std::shared_ptr<endpoint::GroupServer> server, endpoint::GroupServerOptions options);

  /// The server of the requests: `server`, if it has all groups.
  const std::shared_ptr<endpoint::GroupServer>& Server() const { return complete_; }
  /// Must be called when the plugins have been created, before the first request.
  void Serve(const KindInputs& inputs, admission::ChainPtr admission);

 private:
  const std::shared_ptr<endpoint::GroupServer> served_, complete_;
};

}  // namespace apimesh::core_api
