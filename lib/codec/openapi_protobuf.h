#pragma once

#include <string>

#include "lib/meta/object.h"

namespace apimesh::codec {

/// An OpenAPI v2 document in the protobuf form that kubectl asks for: application/com.github.proto-openapi.spec.v2@v1.0+protobuf
/// (openapi.v2.Document of google/gnostic). Keywords that version 2 does not have are left out.
std::string WriteOpenApiV2Protobuf(const meta::json::object& document);

}  // namespace apimesh::codec
