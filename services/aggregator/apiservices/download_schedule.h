#pragma once

#include <algorithm>
#include <chrono>

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// When the documents of a server are requested: once a minute, and after failures with pauses that double up to an
/// hour, as in kube-apiserver.
class DownloadSchedule {
 public:
  bool Due(SteadyTime now) const { return !running_ && next_ <= now; }
  void Begin() { running_ = true; }
  void Finish(bool succeeded, SteadyTime now) {
    running_ = false;
    failures_ = succeeded ? 0 : failures_ + 1;
    next_ = now + std::min(kPause * (1 << std::clamp(failures_ - 1, 0, kDoublings)), kLongestPause);
  }
  /// The next download is due at once. For a server that has become available.
  void Restart() { next_ = {}; }

 private:
  static constexpr std::chrono::minutes kPause{1}, kLongestPause{60};
  static constexpr int kDoublings = 6;
  bool running_ = false;
  int failures_ = 0;  // in a row
  SteadyTime next_{};
};

}  // namespace apimesh::aggregator
