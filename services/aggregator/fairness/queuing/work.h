#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/request/request_info.h"

namespace apimesh::aggregator {

/// Service in seat-microseconds: the unit in which requests and queues are compared.
using SeatTime = std::int64_t;
SeatTime SeatTimeOf(int seats, Duration duration);

/// The seats that a request is expected to occupy: `initial_seats` while it runs, and `final_seats` for `extra_time`
/// after its response, while the servers still notify watches about its write.
struct WorkEstimate {
  int initial_seats = 1;
  int final_seats = 0;
  Duration extra_time{};

  int MaxSeats() const { return initial_seats > final_seats ? initial_seats : final_seats; }
  SeatTime FinalWork() const { return SeatTimeOf(final_seats, extra_time); }
};

/// The sizes of the most recent answers to lists, by path, selectors and limit. Lists with the same hash share an
/// entry. Its memory is fixed. Thread-safe.
class ListSizes {
 public:
  /// Identifies lists that are expected to have answers of equal size. Other parameters of the query do not count.
  static std::uint64_t Key(std::string_view path, std::string_view query);

  void Record(std::uint64_t key, std::size_t bytes);
  /// Returns 0 for a list that has not been seen.
  std::size_t Find(std::uint64_t key) const;

 private:
  static constexpr std::size_t kEntries = 1 << 12;
  // The upper bits have a part of the key, and the lower ones the size in units of 256 bytes.
  std::array<std::atomic<std::uint64_t>, kEntries> entries_{};
};

/// The number of open watches, by what they watch. Thread-safe.
class WatchCounts {
 public:
  /// `change` is 1 or -1.
  void Add(const meta::RequestInfo& info, int change);
  /// Returns the number of watches that a write may concern: of the object, of its namespace, and of the resource.
  int Interested(const meta::RequestInfo& info) const;

 private:
  static std::string KeyOf(const meta::RequestInfo& info, std::string_view ns, std::string_view name);

  mutable std::mutex mutex_;
  std::map<std::string, int, std::less<>> counts_;  // guarded by mutex_
};

/// Estimates the work of a request. `query` is raw. `max_seats` is the limit of the priority level, or 0 if it has
/// none. `watch_count`, if not nullptr, receives the number of watches that a write concerns.
WorkEstimate EstimateWork(const meta::RequestInfo& info, std::string_view path, std::string_view query, int max_seats,
                          const ListSizes& sizes, const WatchCounts& watches, int* watch_count = nullptr);

}  // namespace apimesh::aggregator
