#pragma once

#include <string>

#include "lib/meta/object.h"

namespace apimesh::codec {

/// Encodes an OpenAPI v2 document in the protobuf format that kubectl requests:
/// application/com.github.proto-openapi.spec.v2@v1.0+protobuf (openapi.v2.Document of google/gnostic). Keywords that do
/// not exist in version 2 are omitted.
std::string WriteOpenApiV2Protobuf(const meta::json::object& document);

}  // namespace apimesh::codec
