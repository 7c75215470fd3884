#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/endpoint/group_server.h"
#include "lib/schema/openapi/descriptions.h"

/// The OpenAPI documents of definitions and custom resources. They are generated for each request, because the
/// aggregator caches what it needs.
namespace apimesh::extensions_api {

/// Returns the handlers of /openapi/v2 and /openapi/v3/apis/….
std::map<std::string, endpoint::PathHandler> OpenApiPaths(storage::StorePtr crds,
                                                          std::shared_ptr<const schema::Descriptions> descriptions,
                                                          const Clock& clock);

}  // namespace apimesh::extensions_api
