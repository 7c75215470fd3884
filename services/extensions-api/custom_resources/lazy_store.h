#pragma once

#include "lib/storage/backend.h"

namespace apimesh::extensions_api {

/// A store that is opened by its first use: a definition nobody uses costs no watch and no cache.
class LazyStore : public storage::Store {
 public:
  /// The definition is gone or has changed: watches end, and their clients begin anew.
  virtual void EndWatches() = 0;
};
std::shared_ptr<LazyStore> NewLazyStore(std::shared_ptr<storage::Backend> backend, storage::ResourceConfig config);

}  // namespace apimesh::extensions_api
