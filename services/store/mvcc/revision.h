#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace apimesh::store {

using Revision = std::int64_t;
using LeaseId = std::int64_t;

/// Identifies a change: the revision of its transaction and its index within the transaction.
struct ChangeId {
  Revision main = 0;
  std::uint32_t sub = 0;
  auto operator<=>(const ChangeId&) const = default;
};

/// One change of one key. The bytes belong to the caller's data.
struct Change {
  ChangeId id;
  bool deleted = false;
  std::string_view key;
  std::string_view value;
  Revision create = 0;
  std::int64_t version = 0;
  LeaseId lease = 0;
};

}  // namespace apimesh::store
