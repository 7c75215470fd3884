#pragma once

#include "lib/schema/openapi/openapi_definitions.h"

namespace apimesh::schema {

/// Returns the schema of a custom resource as a document of an OpenAPI version publishes it, with the fields of every
/// resource: `resource_fields` are apiVersion, kind and metadata. OpenAPI v2 has no alternatives, defaults and nullable
/// values, and kubectl refuses unknown fields of objects whose fields are listed; such parts are left out there.
meta::json::object PublishedSchema(const meta::json::object& openapi, OpenApiVersion version,
                                   const meta::json::object& resource_fields);

}  // namespace apimesh::schema
