#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {

/// Keeps children running: restarts a child that ends, with a back-off that grows while it keeps failing, and stops all
/// children in order. One thread runs a loop that handles signals, ended children and timeouts.
class Supervisor {
 public:
  struct Child {
    ChildSpec spec;
    pid_t pid = 0;  // 0: not running
    SteadyTime started{};
    SteadyTime next_start{};
    std::chrono::milliseconds pause{0};
    int restarts = 0;
    bool stopping = false;
    bool removed = false;    // it is forgotten when it has ended
    SteadyTime killed_at{};  // if it is removed
  };

  /// `children` are in start order; they are stopped in the opposite order.
  Supervisor(std::vector<ChildSpec> children, const Clock& clock);

  /// Calls `changed` after every start or end of a child.
  void OnChange(std::function<void()> changed) { changed_ = std::move(changed); }
  void OnTick(std::chrono::milliseconds every, std::function<void()> tick);
  /// Changes the interval of the tick. May be called by the tick itself.
  void TickEvery(std::chrono::milliseconds every) { tick_every_ = every; }
  /// Runs the tick in the next turn of the loop.
  void TickSoon() { next_tick_ = clock_.Steady(); }
  /// Calls `readable` when the file can be read. Must be called before Run().
  void OnReadable(int file, std::function<void()> readable);

  /// Starts another child and keeps it running; it is stopped after the child `before`. Throws std::runtime_error if
  /// the binary cannot be started. May be called by the tick and by the callback of OnReadable().
  void Add(ChildSpec spec, const std::string& before);
  /// Stops a child and forgets it. It has kRemoveLimit to end after SIGTERM.
  void Remove(const std::string& name);

  /// Starts all children and returns after SIGTERM or SIGINT, when all have ended. A second signal kills the remaining
  /// children at once. Throws std::runtime_error if a binary cannot be started and, after the other children have
  /// ended, if a child refused its configuration at its first start.
  void Run();

  const std::vector<Child>& Children() const { return children_; }

  /// The time that each child has to end after SIGTERM before it is killed with SIGKILL.
  static constexpr std::chrono::seconds kStopLimit{10};
  /// The same for Remove(): a server finishes its requests, which may take a minute.
  static constexpr std::chrono::seconds kRemoveLimit{70};

 private:
  void Start(Child& child);
  void Reap();
  void RestartEnded();
  void KillRemoved();
  /// Waits for a signal, for input, or until something is due.
  void Wait(int signals);
  void StopInOrder(int signals);

  const Clock& clock_;
  std::vector<Child> children_;
  std::string refusal_;  // why a child refused its configuration; empty if none did
  std::function<void()> changed_ = [] {};
  std::function<void()> tick_;
  std::chrono::milliseconds tick_every_{1000};
  SteadyTime next_tick_{};
  int input_ = -1;  // the file of OnReadable()
  std::function<void()> readable_;
};

}  // namespace apimesh::launcher
