#pragma once

#include "lib/endpoint/group_server.h"

/// The OpenAPI documents of the definitions and of custom resources, made when someone asks: the aggregator keeps what it needs.
namespace apimesh::extensions_api {

/// Handlers of /openapi/v2 and /openapi/v3/apis/….
std::map<std::string, endpoint::PathHandler> OpenApiPaths(storage::StorePtr crds);

}  // namespace apimesh::extensions_api
