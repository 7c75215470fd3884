#pragma once

#include "lib/registry/resource.h"

namespace apimesh::extensions_api {

/// customresourcedefinitions of apiextensions.k8s.io/v1, with its status subresource.
registry::Resource CrdResource(const Clock& clock);

}  // namespace apimesh::extensions_api
