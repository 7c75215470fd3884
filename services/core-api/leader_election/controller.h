#pragma once

#include <memory>
#include <string>

#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/leader_election/flags.h"

namespace apimesh::core_api {

/// Chooses the leaders of components from their LeaseCandidates, and deletes candidates that have expired. Of several
/// API servers, one does this: the holder of the lease kube-system/leader-election-controller.
class LeaderElection {
 public:
  /// `identity` is that of this server in the lease.
  LeaderElection(LocalApiPtr api, LeadershipFlags flags, std::string identity)
      : api_(std::move(api)), flags_(flags), identity_(std::move(identity)) {}

  /// Runs until the process stops.
  static Task<> Run(std::shared_ptr<LeaderElection> self);
  /// Gives the lease up, so that another server can take it at once.
  static Task<> Release(std::shared_ptr<LeaderElection> self);

 private:
  /// Takes or renews the lease. Returns false if another server holds it or if it cannot be written.
  Task<bool> Acquire();
  Task<> Elect();
  Task<> ElectOne(std::string ns, std::string name, std::vector<meta::Object> candidates);
  Task<> Ask(meta::Object candidate);
  Task<> CollectExpired();
  Task<meta::Result<std::vector<meta::Object>>> Candidates();

  const LocalApiPtr api_;
  const LeadershipFlags flags_;
  const std::string identity_;
  bool leads_ = false;
  std::string seen_;         // the lease of another server as it was last seen
  SteadyTime seen_since_{};  // since when it has not changed
  SteadyTime renewed_{}, collected_{};
};

}  // namespace apimesh::core_api
