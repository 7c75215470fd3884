#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// A watch, apart from where it begins and how long it lasts.
struct WatchQuery {
  /// Equal for watches that see the same events in the same form.
  std::string identity;
  bool wants_bookmarks = false;

  /// The query of the same watch from `place` on.
  std::string From(std::uint64_t place, bool bookmarks) const;

  std::string rest;  // the raw query without what says where the watch begins
};

/// nullopt: no two watches of this form get the same bytes (a Table has its columns in the first event only).
std::optional<WatchQuery> ReadWatchQuery(const rpc::Request& request);

}  // namespace apimesh::aggregator
