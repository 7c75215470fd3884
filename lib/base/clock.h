#pragma once

#include <chrono>

namespace apimesh {

using WallTime = std::chrono::system_clock::time_point;
using SteadyTime = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// The time as a dependency, so that tests can control it. Thread-safe. Every class that reads the time gets its clock
/// from its creator; only main.cc of a program uses System(). tools/check_layers.py checks that. Timers of Asio follow
/// the steady clock of the system.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() const = 0;
  virtual SteadyTime Steady() const = 0;

  /// The clock of the system; it lives as long as the process.
  static const Clock& System();
};

}  // namespace apimesh
