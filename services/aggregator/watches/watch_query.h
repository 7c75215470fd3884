#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::aggregator {

/// The parameters of a watch, except where it starts and how long it lasts.
struct WatchQuery {
  /// Equal for watches that receive the same events in the same encoding.
  std::string identity;
  bool wants_bookmarks = false;
  bool wants_initial_events = false;

  /// Returns the query of the same watch that starts after `position`.
  std::string From(std::uint64_t position, bool bookmarks) const;

  std::string rest;  // the raw query without the parameters that differ between clients
};

/// Returns nullopt if watches with this encoding cannot be shared (a Table has its columns in the first event only).
std::optional<WatchQuery> ReadWatchQuery(const mesh::Request& request);

}  // namespace apimesh::aggregator
