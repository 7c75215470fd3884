#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// The results of health checks as metrics, from which service level indicators are computed (/metrics/slis). A check
/// is counted whenever a client asks for /healthz, /livez or /readyz. Thread-safe.
class HealthSlis {
 public:
  explicit HealthSlis(WallTime start) : start_(start) {}

  /// `type`: "healthz", "livez" or "readyz".
  void Observe(std::string_view type, std::string_view check, bool passed);
  void Reset();
  /// In the Prometheus text format.
  std::string Text() const;

 private:
  struct Counts {
    bool passed = false;  // the last result
    std::uint64_t error = 0, success = 0;
  };
  const WallTime start_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Counts> checks_;  // by check and type; guarded by mutex_
};

}  // namespace apimesh::aggregator
