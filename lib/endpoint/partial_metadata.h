#pragma once

#include <string>

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{…}}` of an object.
std::string PartialMetadataOf(const ResourceRequest& request, const meta::Object& object);
std::string PartialMetadataOf(const ResourceRequest& request, std::string_view json);

}  // namespace apimesh::endpoint
