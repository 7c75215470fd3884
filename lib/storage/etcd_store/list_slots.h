#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "lib/base/async/wakeup.h"

namespace apimesh::storage {

/// Limits the number of caches that are filled at the same time. Thread-safe.
class ListSlots {
 public:
  explicit ListSlots(std::size_t free) : free_(free) {}

  /// Holds a slot until it is destroyed.
  class Slot {
   public:
    explicit Slot(ListSlots* owner) : owner_(owner) {}
    Slot(Slot&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (owner_) owner_->Release();
    }

   private:
    ListSlots* owner_;
  };
  Task<Slot> Acquire() {
    for (;;) {
      std::shared_ptr<Wakeup> wakeup;
      {
        const std::lock_guard lock(mutex_);
        if (free_ > 0) {
          --free_;
          co_return Slot(this);
        }
        wakeup = Wakeup::New();
        waiting_.push_back(wakeup);
      }
      co_await Wakeup::Wait(wakeup);
    }
  }

 private:
  void Release() {
    std::deque<std::shared_ptr<Wakeup>> waiting;
    {
      const std::lock_guard lock(mutex_);
      ++free_;
      /// Wakes all waiters: if only one were woken and it had been cancelled, the free slot would be lost.
      waiting.swap(waiting_);
    }
    for (const auto& wakeup : waiting) wakeup->Wake();
  }

  std::mutex mutex_;
  std::size_t free_;                             // guarded by mutex_
  std::deque<std::shared_ptr<Wakeup>> waiting_;  // guarded by mutex_
};

}  // namespace apimesh::storage
