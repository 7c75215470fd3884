#pragma once

#include "lib/endpoint/served_resource.h"

namespace apimesh::extensions_api {

/// What the end of a definition needs.
struct Cleanup {
  storage::StorePtr crds;
  std::string name, uid;                  // of the definition
  endpoint::ServedResourcePtr instances;  // nullptr: it was never established
  endpoint::EnvironmentPtr environment;
};

/// Deletes the objects of a definition, waits until the last is gone (finalizers may keep them), then lets the definition go.
Task<meta::Result<>> CleanUp(Cleanup cleanup);

}  // namespace apimesh::extensions_api
