#include "services/core-api/server.h"

#include "lib/service/chain.h"
#include "lib/service/runtime.h"

namespace apimesh::core_api {

int Run(const Flags& flags) {
  service::Runtime runtime("core-api", flags.common);
  auto next = std::shared_ptr(rpc::NewDelegateClient(flags.common.EndpointOf(flags.extensions_api)));
  runtime.Serve(service::ForwardTo(std::move(next)));
  return runtime.Run();
}

}  // namespace apimesh::core_api
