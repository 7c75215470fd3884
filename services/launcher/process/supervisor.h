#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "services/launcher/process/child.h"

namespace apimesh::launcher {

/// Keeps children running: restarts what dies, after a pause that grows while a child keeps dying, and stops everything in
/// order. One thread: signals, deaths and time-outs are handled by one loop.
class Supervisor {
 public:
  struct Child {
    ChildSpec spec;
    pid_t pid = 0;  // 0: not running
    std::chrono::steady_clock::time_point started{};
    std::chrono::steady_clock::time_point next_start{};
    std::chrono::milliseconds pause{0};
    int restarts = 0;
    bool stopping = false;
  };

  /// `children` in start order; they are stopped in the opposite order.
  explicit Supervisor(std::vector<ChildSpec> children);

  /// Runs `changed` after every start or death, and `tick` about every `tick_every`.
  void OnChange(std::function<void()> changed) { changed_ = std::move(changed); }
  void OnTick(std::chrono::milliseconds every, std::function<void()> tick);
  /// May be called from inside the tick.
  void TickEvery(std::chrono::milliseconds every) { tick_every_ = every; }

  /// Starts all and returns after SIGTERM or SIGINT, when all have ended. A second signal kills what is left at once.
  /// Throws std::runtime_error if a binary can't be started at all, and, when the others have ended, if a child refused
  /// its configuration at its first start.
  void Run();

  const std::vector<Child>& Children() const { return children_; }

  /// How long each child gets to end by itself before SIGKILL.
  static constexpr std::chrono::seconds kStopLimit{10};

 private:
  void Start(Child& child);
  void Reap();
  void StopInOrder(int signals);

  std::vector<Child> children_;
  std::string refusal_;  // why the mesh can't be; empty if it can
  std::function<void()> changed_ = [] {};
  std::function<void()> tick_;
  std::chrono::milliseconds tick_every_{1000};
};

}  // namespace apimesh::launcher
