#pragma once

#include <string>

#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}` of an object's JSON.
std::string PartialMetadataOf(const ResourceRequest& request, std::string_view json);
void AppendPartialMetadata(std::string& out, const ResourceRequest& request, std::string_view json);
/// The same, kept beside its object.
SharedBytes KeptPartialMetadata(const ResourceRequest& request, const storage::Entry& entry);

}  // namespace apimesh::endpoint
