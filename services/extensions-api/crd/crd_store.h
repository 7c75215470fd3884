#pragma once

#include <functional>
#include <string>

#include "lib/storage/store.h"

namespace apimesh::extensions_api {

/// Changes a definition; false: nothing to change. Pure; may run many times.
using CrdChange = std::function<bool(meta::Object& crd)>;

/// Writes what `change` makes of the definition, as controllers do: no admission, no strategy. A definition that waits for its deletion and has no
/// finalizer left goes. One with another uid, or none, is left alone.
Task<meta::Result<>> ChangeCrd(storage::StorePtr crds, std::string name, std::string uid, CrdChange change);

}  // namespace apimesh::extensions_api
