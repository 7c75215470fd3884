#pragma once

#include <mutex>
#include <vector>

#include "lib/base/wakeup.h"

namespace apimesh::core_api {

/// Closed until it is opened, once and for all; any number of coroutines wait for that. Thread-safe.
class Gate {
 public:
  void Open() {
    std::vector<std::shared_ptr<Wakeup>> waiting;
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      waiting.swap(waiting_);
    }
    for (const auto& wakeup : waiting) wakeup->Wake();
  }
  static Task<> Wait(std::shared_ptr<Gate> gate) {
    const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
    {
      const std::lock_guard lock(gate->mutex_);
      if (gate->open_) co_return;
      gate->waiting_.push_back(wakeup);
    }
    co_await Wakeup::Wait(wakeup);
  }

 private:
  std::mutex mutex_;
  bool open_ = false;                             // guarded by mutex_
  std::vector<std::shared_ptr<Wakeup>> waiting_;  // guarded by mutex_
};

}  // namespace apimesh::core_api
