#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Returns the first bytes of the JSON of every object of a built-in kind: {"kind":"Pod","apiVersion":"v1",
std::string TypePrefix(const meta::Gvk& gvk);

/// The encoding in which objects are written. Both are read.
enum class StoredFormat { kJson, kProtobuf };

/// Returns the storage configuration of a resource whose schema has protobuf field numbers.
storage::ResourceConfig StorageConfig(const registry::Resource& resource, StoredFormat format = StoredFormat::kJson);

/// Converts an object of the version `from` to the version `to` of the same built-in kind. The result is what a client
/// of `to` reads if a client of `from` writes the object.
meta::Result<> ConvertVersion(meta::Object& object, const registry::Resource& from, const registry::Resource& to);

}  // namespace apimesh::endpoint
