#pragma once

#include "lib/endpoint/served_resource.h"

namespace apimesh::extensions_api {

/// What the deletion of a definition needs.
struct Cleanup {
  storage::StorePtr crds;
  std::string name, uid;                  // of the definition
  endpoint::ServedResourcePtr instances;  // nullptr: it was never established
  endpoint::EnvironmentPtr environment;
};

/// Deletes the objects of a definition, waits until the last one is gone (finalizers may delay this), and then releases
/// the definition.
Task<meta::Result<>> CleanUp(Cleanup cleanup);

}  // namespace apimesh::extensions_api
