#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// What the store must know of a resource whose schema has protobuf numbers: JSON is written, protobuf and JSON are read.
storage::ResourceConfig StorageConfig(const registry::Resource& resource);

}  // namespace apimesh::endpoint
