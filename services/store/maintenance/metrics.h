#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace apimesh::store {

/// Counters of the loop thread, and their output at /metrics under etcd's names.
struct Metrics {
  std::uint64_t ranges = 0, puts = 0, deletes = 0, txns = 0;
  std::uint64_t leases_expired = 0;

  void Synced(std::chrono::nanoseconds took);

  struct Gauges {
    std::int64_t revision = 0, compacted = 0;
    std::uint64_t keys = 0, file_bytes = 0, used_bytes = 0, quota_bytes = 0;
    std::uint64_t watchers = 0, watch_streams = 0, slow_watchers = 0, events = 0;
    std::uint64_t connections = 0, entries = 0;
    bool alarm = false;
  };
  /// The Prometheus text format.
  std::string Render(const Gauges& gauges) const;

 private:
  static constexpr int kBuckets = 14;  // from 1 ms, doubling, as in etcd
  std::array<std::uint64_t, kBuckets> sync_buckets_{};
  std::uint64_t syncs_ = 0;
  double sync_seconds_ = 0;
};

}  // namespace apimesh::store
