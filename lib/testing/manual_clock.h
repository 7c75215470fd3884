#pragma once

#include <atomic>

#include "lib/base/clock.h"

namespace apimesh::testing {

/// A clock that only advances when a test calls Advance(). It starts at 2026-01-01T00:00:00Z.
class ManualClock final : public Clock {
 public:
  WallTime Now() const override { return WallTime(std::chrono::seconds(1767225600) + Passed()); }
  SteadyTime Steady() const override { return SteadyTime(std::chrono::hours(1) + Passed()); }
  void Advance(std::chrono::milliseconds by) { passed_ += by.count(); }

 private:
  std::chrono::milliseconds Passed() const { return std::chrono::milliseconds(passed_.load()); }
  std::atomic<std::int64_t> passed_{0};
};

}  // namespace apimesh::testing
