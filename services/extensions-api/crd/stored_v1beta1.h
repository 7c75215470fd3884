#pragma once

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// kube-apiserver stores definitions in the form of v1beta1, which clients can't ask for any more: what holds for all versions
/// (validation, subresources, printer columns, selectable fields) stands above them. Makes v1 of that; what is v1 stays so.
void FromStoredV1beta1(meta::json::object& root);

}  // namespace apimesh::extensions_api
