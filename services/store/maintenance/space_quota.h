#pragma once

#include <cstdint>

#include "services/store/mvcc/store.h"

namespace apimesh::store {

/// Limits the store's size. If a write would exceed the limit, the NOSPACE alarm is raised, and writes that add data
/// are rejected until an operator has freed space and cleared the alarm. Deletions and compactions still work.
class SpaceQuota {
 public:
  static constexpr std::int64_t kDefaultBytes = 2ll * 1024 * 1024 * 1024;

  /// 0: the default limit; negative: no limit.
  SpaceQuota(Store& store, Journal& journal, std::int64_t bytes)
      : store_(store), journal_(journal), bytes_(bytes == 0 ? kDefaultBytes : bytes) {}

  /// Returns whether a write that adds this much data is allowed.
  bool Admit(std::size_t bytes);
  std::int64_t Bytes() const { return bytes_; }
  /// The size that counts against the quota: the base's file and the log that is not yet in it.
  std::uint64_t Used() const { return journal_.base().FileBytes() + journal_.LogBytes(); }

 private:
  Store& store_;
  Journal& journal_;
  std::int64_t bytes_;
};

}  // namespace apimesh::store
