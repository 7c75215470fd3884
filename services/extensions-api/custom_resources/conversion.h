#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::extensions_api {

/// How objects of a custom resource are stored: as JSON of the storage version. What is read is pruned and defaulted by the schema of the
/// served version, because the definition may have changed since it was written. Conversion between versions is "None": only apiVersion
/// changes. `schemas` owns the schema of the resource.
storage::ResourceConfig CustomStorageConfig(const registry::Resource& resource, std::shared_ptr<const schema::Schema> schemas);

}  // namespace apimesh::extensions_api
