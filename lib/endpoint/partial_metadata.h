#pragma once

#include <string>

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}` of an object's JSON.
std::string PartialMetadataOf(const ResourceRequest& request, std::string_view json);
void AppendPartialMetadata(std::string& out, const ResourceRequest& request, std::string_view json);

}  // namespace apimesh::endpoint
