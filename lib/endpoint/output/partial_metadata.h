#pragma once

#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Returns `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}` for the JSON of an object.
std::string PartialMetadataOf(const ResourceRequest& request, std::string_view json);
/// Appends the same for a stored object. The metadata of a built-in kind shares the bytes of the entry. The metadata of
/// a custom resource has another key order, so it is re-encoded once and cached in the entry.
void AppendPartialMetadata(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry);

}  // namespace apimesh::endpoint
