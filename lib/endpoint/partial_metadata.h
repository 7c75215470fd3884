#pragma once

#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}` of an object's JSON.
std::string PartialMetadataOf(const ResourceRequest& request, std::string_view json);
/// The same, with the entry's own bytes; of a custom resource, whose keys have another order, with a form that is kept.
void AppendPartialMetadata(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry);

}  // namespace apimesh::endpoint
