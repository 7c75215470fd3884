#pragma once

#include <vector>

#include "lib/endpoint/served_resource.h"
#include "lib/storage/backend.h"
#include "services/extensions-api/custom_resources/lazy_store.h"

namespace apimesh::extensions_api {

/// One version of a definition.
struct CustomVersion {
  bool served = true;
  bool storage = false;
  endpoint::ServedResourcePtr resource;
  std::shared_ptr<LazyStore> store;
};

/// What the versions of a definition are served with.
struct CustomSources {
  std::shared_ptr<storage::Backend> backend;
  admission::ChainPtr admission;
};

/// Resources for all versions of a definition whose names are accepted. Their stores are opened by the first request.
std::vector<CustomVersion> MakeCustomResources(const meta::Object& crd, const CustomSources& sources);

/// The same for a definition that is being deleted: nothing can be created any more.
CustomVersion WithoutCreation(const CustomVersion& version);

}  // namespace apimesh::extensions_api
