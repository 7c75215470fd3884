#pragma once

#include <functional>

#include "lib/storage/store.h"

namespace apimesh::core_api {

/// Returns a store that passes every call to the store that `find` returns. `find` is called at the first call. If it
/// returns nullptr (the server stops), the call fails with 503 and the next call tries `find` again. Thread-safe;
/// `find` must be thread-safe, too.
storage::StorePtr MakeDeferredStore(std::function<storage::StorePtr()> find);

}  // namespace apimesh::core_api
