#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// How the JSON of every object of a built-in kind begins: {"kind":"Pod","apiVersion":"v1",
std::string TypePrefix(const meta::Gvk& gvk);

/// What the store must know of a resource whose schema has protobuf numbers: JSON is written, protobuf and JSON are read.
storage::ResourceConfig StorageConfig(const registry::Resource& resource);

}  // namespace apimesh::endpoint
