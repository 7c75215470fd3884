#pragma once

#include <memory>
#include <string_view>

#include "lib/features/feature_gates.h"
#include "services/aggregator/diagnostics/diagnostics_options.h"
#include "services/aggregator/diagnostics/health_slis.h"
#include "services/aggregator/diagnostics/mesh_processes.h"
#include "services/aggregator/diagnostics/profiles.h"
#include "services/aggregator/diagnostics/zpages.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Answers the paths for diagnosis of kube-apiserver: /statusz, /flagz, /metrics/slis, /debug/flags,
/// and /debug/pprof unless --profiling=false. The request is
/// authorized already. Thread-safe.
class Diagnostics {
 public:
  struct Parts {
    DiagnosticsOptions options;
    features::FeatureGates features;
    FlagValues flags;  // for /flagz
    MeshProcesses processes;
    const Clock& clock;
  };
  explicit Diagnostics(Parts parts);

  bool Serves(std::string_view path) const;
  /// Whether the path is served at the socket for debugging: the flags and profiles of /debug, also if profiles are
  /// switched off for the other listeners.
  static bool ServesAtDebugSocket(std::string_view path);
  /// Must be called only if Serves() or, at that socket, ServesAtDebugSocket().
  Task<> Answer(Exchange& exchange);
  /// The paths that the index at / lists.
  const std::vector<std::string>& ListedPaths() const { return listed_; }
  HealthSlis& Slis() { return slis_; }

 private:
  Task<> AnswerSlis(Exchange& exchange);
  Task<> AnswerFlags(Exchange& exchange);

  const Parts parts_;
  const WallTime started_;
  std::vector<std::string> listed_;
  HealthSlis slis_{started_};
  Profiles profiles_{parts_.processes, parts_.clock};
};

}  // namespace apimesh::aggregator
