#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/endpoint/group_server.h"
#include "lib/schema/openapi/descriptions.h"
#include "services/extensions-api/controller/served_definitions.h"

/// The OpenAPI documents of definitions and custom resources. They are generated for each request, because the
/// aggregator caches what it needs.
namespace apimesh::extensions_api {

/// Returns the handlers of /openapi/v2 and /openapi/v3/apis/…, for the definitions that are in the store and served.
std::map<std::string, endpoint::PathHandler> OpenApiPaths(storage::StorePtr crds,
                                                          std::shared_ptr<const ServedDefinitions> served,
                                                          std::shared_ptr<const schema::Descriptions> descriptions,
                                                          const Clock& clock);

}  // namespace apimesh::extensions_api
