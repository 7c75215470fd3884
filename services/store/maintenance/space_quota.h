#pragma once

#include <cstdint>

#include "services/store/mvcc/store.h"

namespace apimesh::store {

/// Bounds the store's size. Once a write would go beyond, the NOSPACE alarm is raised, and writes that add data are
/// refused until an operator has made room and cleared it; deleting and compacting go on.
class SpaceQuota {
 public:
  static constexpr std::int64_t kDefaultBytes = 2ll * 1024 * 1024 * 1024;

  /// 0: the default; negative: no bound.
  SpaceQuota(Store& store, Journal& journal, std::int64_t bytes)
      : store_(store), journal_(journal), bytes_(bytes == 0 ? kDefaultBytes : bytes) {}

  /// Whether a write that adds this much may go on.
  bool Admit(std::size_t bytes);
  std::int64_t Bytes() const { return bytes_; }
  /// What counts against the quota: the base's file, and the log that is not in it yet.
  std::uint64_t Used() const { return journal_.base().FileBytes() + journal_.LogBytes(); }

 private:
  Store& store_;
  Journal& journal_;
  std::int64_t bytes_;
};

}  // namespace apimesh::store
