#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "lib/base/clock.h"

namespace apimesh {

/// Shows how far a long task is, with an estimate of the time that is left: "checking objects: 4000 of 12000 (33 %),
/// about 8s left". On a terminal, one line is rewritten up to five times per second; elsewhere a line is added every 10
/// seconds, so that a short task prints nothing. Not thread-safe.
class Progress {
 public:
  struct Options {
    std::string task;         // "checking objects"
    std::uint64_t total = 0;  // 0: not known, so no time is estimated
    std::FILE* out = stderr;
    bool terminal = false;  // see IsTerminal()
  };
  Progress(Options options, const Clock& clock);
  /// Removes the line from the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Advance(std::uint64_t count = 1);

  static bool IsTerminal(std::FILE* file);

 private:
  std::string Line(Duration elapsed) const;

  const Options options_;
  const Clock& clock_;
  const SteadyTime began_;
  SteadyTime next_;
  std::uint64_t done_ = 0;
  bool shown_ = false;
};

}  // namespace apimesh
