#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

/// The rules by which the leader of a component is chosen from its LeaseCandidates. Pure functions.
namespace apimesh::core_api {

/// The strategy that this server handles. It prefers the oldest emulation version, then the oldest binary version, then
/// the oldest candidate.
inline constexpr std::string_view kOldestEmulationVersion = "OldestEmulationVersion";

/// What an election does next. At most one of the members is set.
struct ElectionStep {
  /// Candidates that must acknowledge that they are alive: spec.pingTime is set, and they answer with spec.renewTime.
  std::vector<const meta::Object*> ping;
  struct Vote {
    std::string strategy;
    std::string leader;  // empty: another controller chooses
  };
  std::optional<Vote> vote;
};

/// Whether a candidate has not renewed itself for so long that it does not count and is deleted.
bool IsExpiredCandidate(const meta::Object& candidate, WallTime now);

/// Returns the next step for a lease with these candidates, none of which is expired. `lease` is nullptr if it does not
/// exist. Returns an error if candidates of the same version ask for different strategies, or if none has answered.
meta::Result<ElectionStep> NextStep(const std::vector<meta::Object>& candidates, const meta::Object* lease,
                                    WallTime now);

/// Returns the lease that a vote creates.
meta::json::object NewLease(const ElectionStep::Vote& vote, std::string_view ns, std::string_view name, WallTime now);
/// Changes an existing lease by a vote. A leader that still holds the lease is only told who is preferred. Returns
/// whether the lease has changed.
bool ApplyVote(const ElectionStep::Vote& vote, WallTime now, meta::Object& lease);

}  // namespace apimesh::core_api
