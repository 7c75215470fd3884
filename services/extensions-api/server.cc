#include "services/extensions-api/server.h"

#include "lib/service/chain.h"
#include "lib/service/runtime.h"

namespace apimesh::extensions_api {

int Run(const Flags& flags) {
  service::Runtime runtime("extensions-api", flags.common);
  runtime.Serve(service::NotFoundHandler());
  return runtime.Run();
}

}  // namespace apimesh::extensions_api
