#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// The sizes of the events in a part of a watch's response.
struct WatchEventSizes {
  /// Adds the events of `data`, which are lines of JSON, or messages of protobuf after their length in four bytes.
  void Add(std::string_view data);
  void Add(const WatchEventSizes& more) { bytes.insert(bytes.end(), more.bytes.begin(), more.bytes.end()); }

  std::vector<std::uint32_t> bytes;
};

/// The metrics of events that were sent to the watchers of one resource. Thread-safe.
class WatchEventMetrics {
 public:
  WatchEventMetrics(service::Counter events, service::Histogram sizes) : events_(events), sizes_(sizes) {}
  /// The events were sent to this many watchers.
  void Sent(const WatchEventSizes& events, std::size_t watchers = 1);

 private:
  service::Counter events_;
  service::Histogram sizes_;
};

/// Counts the events in `pieces`, each of which has whole events.
void CountEvents(WatchEventMetrics& metrics, const std::vector<SharedBytes>& pieces);

}  // namespace apimesh::aggregator
