#pragma once

#include "lib/endpoint/group_server.h"
#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {

/// The API to which admission plugins send their writes. Plugins write namespaces and the usage of quotas, whichever
/// resource a request is about. If another process serves the core group (--api-groups), this class serves these two
/// resources for the plugins of this process, which has the same store.
class PluginApi {
 public:
  /// `options` are those of the server that answers clients.
  PluginApi(const KindInputs& inputs, endpoint::GroupServerOptions options, boost::asio::any_io_executor executor);

  /// Returns where plugins send requests to.
  SendObject Send() const { return api_ ? MakeOwnApi(api_).send : inputs_.api.send; }
  /// Must be called when the plugins have been created, before the first request.
  void Serve(admission::ChainPtr admission);

 private:
  const KindInputs& inputs_;
  std::shared_ptr<endpoint::GroupServer> server_;  // nullptr: the process serves the core group
  LocalApiPtr api_;
};

}  // namespace apimesh::core_api
