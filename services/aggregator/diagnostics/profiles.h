#pragma once

#include <atomic>
#include <string_view>

#include "services/aggregator/diagnostics/mesh_processes.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Answers /debug/pprof: CPU profiles of the processes of the mesh, of which one is taken at a time. Thread-safe.
class Profiles {
 public:
  Profiles(MeshProcesses processes, const Clock& clock) : processes_(std::move(processes)), clock_(clock) {}

  static bool Serves(std::string_view path);
  Task<> Answer(Exchange& exchange);

 private:
  /// /debug/pprof/profile?seconds=N&process=NAME; without `process`, all processes are profiled at the same time.
  Task<> AnswerCpu(Exchange& exchange);
  Task<> TakeCpu(Exchange& exchange, int seconds, std::vector<std::string> names);

  const MeshProcesses processes_;
  const Clock& clock_;
  std::atomic<bool> busy_{false};
};

}  // namespace apimesh::aggregator
