#pragma once

#include <chrono>

namespace apimesh {

using WallTime = std::chrono::system_clock::time_point;
using SteadyTime = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Time as a dependency, so that tests move it by hand. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
  virtual SteadyTime Steady() const = 0;

  /// The machine's clock; lives for the whole process.
  static const Clock& System();
};

}  // namespace apimesh
