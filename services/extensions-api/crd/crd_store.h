#pragma once

#include <functional>
#include <string>

#include "lib/storage/store.h"

namespace apimesh::extensions_api {

/// Changes a definition. Returns false if there is nothing to change. It must be pure, because it may run several
/// times.
using CrdChange = std::function<bool(meta::Object& crd)>;

/// Applies `change` to the definition and writes it as controllers do, without admission and strategy. A definition
/// that is being deleted and has no finalizer left is removed. A missing definition, or one with another uid, is not
/// changed.
Task<meta::Result<>> ChangeCrd(storage::StorePtr crds, std::string name, std::string uid, CrdChange change);

}  // namespace apimesh::extensions_api
