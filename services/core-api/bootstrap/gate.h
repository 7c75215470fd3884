#pragma once

#include <mutex>
#include <vector>

#include "lib/base/async/wakeup.h"

namespace apimesh::core_api {

/// A gate that is closed until Open() is called and stays open from then on. Any number of coroutines can wait for it.
/// Thread-safe.
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
