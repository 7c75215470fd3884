#pragma once

#include <utility>

namespace apimesh {

/// Stops a long computation on this thread whose result is no longer needed, because its client has disconnected or its
/// deadline has passed. While an Interruptible exists, loops over the values of a document call Interrupted() and end
/// early when it returns true; their results are then incomplete. Therefore, the creator of an Interruptible must check
/// the same condition again before using the results. It must not exist while a coroutine is suspended.
class Interruptible {
 public:
  using Check = bool (*)(const void* context);

  /// `check` returns whether to stop. It is called now and then, until it returns true once.
  Interruptible(Check check, const void* context)
      : check_(check), context_(context), outer_(std::exchange(current, this)) {}
  ~Interruptible() { current = outer_; }
  Interruptible(const Interruptible&) = delete;

 private:
  friend bool Interrupted();
  static constexpr unsigned kCallsPerCheck = 512;  // a value takes about 100 ns

  bool Ask() {
    if (!stopped_ && ++calls_ % kCallsPerCheck == 0) stopped_ = check_(context_);
    return stopped_;
  }

  inline static thread_local Interruptible* current = nullptr;
  const Check check_;
  const void* const context_;
  Interruptible* const outer_;
  unsigned calls_ = 0;
  bool stopped_ = false;
};

/// Returns whether the computation should end. It costs about a nanosecond.
inline bool Interrupted() { return Interruptible::current != nullptr && Interruptible::current->Ask(); }

}  // namespace apimesh
