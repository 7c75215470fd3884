#pragma once

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// kube-apiserver stores definitions as v1beta1, which is no longer served: fields that all versions have in common
/// (validation, subresources, printer columns, selectable fields) are outside of spec.versions. Converts that to v1. A
/// definition that is already v1 is not changed.
void FromStoredV1beta1(meta::json::object& root);

}  // namespace apimesh::extensions_api
