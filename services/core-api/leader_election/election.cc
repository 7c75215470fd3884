#include "services/core-api/leader_election/election.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/coordination/leasecandidate/version.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using meta::Quoted;

constexpr std::chrono::seconds kElectionDuration{5};
constexpr std::chrono::minutes kCandidateValidity{30};
constexpr int kLeaseSeconds = 5;

std::string_view Text(const meta::Object& object, const char* field) {
  return meta::FindString(object.Root(), "spec", field);
}
std::optional<WallTime> Time(const meta::Object& object, const char* field) {
  return meta::ParseTime(Text(object, field));
}
Version VersionOf(const meta::Object& candidate, const char* field) {
  return ParseVersion(Text(candidate, field)).value_or(Version());
}

bool IsExpiredLease(const meta::Object& lease, WallTime now) {
  const std::optional<WallTime> renewed = Time(lease, "renewTime");
  const json::value* const seconds = meta::Find(lease.Root(), "spec", "leaseDurationSeconds");
  return !renewed || !seconds || !seconds->is_int64() || *renewed + std::chrono::seconds(seconds->get_int64()) < now;
}

/// The candidates with the newest binary version determine the strategy.
meta::Result<std::string> StrategyOf(const std::vector<const meta::Object*>& candidates) {
  const meta::Object* newest = candidates.front();
  for (const meta::Object* candidate : candidates) {
    const auto order = VersionOf(*newest, "binaryVersion") <=> VersionOf(*candidate, "binaryVersion");
    if (order < 0) {
      newest = candidate;
    } else if (order == 0 && Text(*candidate, "strategy") != Text(*newest, "strategy")) {
      return meta::PlainError(fmt::format(
          "candidates {}, {} at same binary version but received differing strategies {}, {}", Quoted(newest->Name()),
          Quoted(candidate->Name()), Text(*newest, "strategy"), Text(*candidate, "strategy")));
    }
  }
  return std::string(Text(*newest, "strategy"));
}

/// Returns nullptr if no candidate has valid versions.
const meta::Object* BestOf(const std::vector<const meta::Object*>& candidates) {
  const auto rank = [](const meta::Object& candidate) {
    return std::tuple(VersionOf(candidate, "emulationVersion"), VersionOf(candidate, "binaryVersion"),
                      meta::FindString(candidate.Metadata(), "creationTimestamp"));
  };
  const meta::Object* best = nullptr;
  for (const meta::Object* candidate : candidates) {
    if (!ParseVersion(Text(*candidate, "emulationVersion")) || !ParseVersion(Text(*candidate, "binaryVersion")))
      continue;
    if (!best || rank(*candidate) < rank(*best)) best = candidate;
  }
  return best;
}

meta::Result<bool> NeedsElection(const std::vector<const meta::Object*>& candidates, const meta::Object* lease,
                                 WallTime now) {
  if (!lease || IsExpiredLease(*lease, now) || Text(*lease, "holderIdentity").empty()) return true;
  // An election makes the candidates renew themselves, so that they do not expire.
  const auto is_old = [now](const meta::Object* candidate) {
    const std::optional<WallTime> renewed = Time(*candidate, "renewTime");
    return renewed && *renewed + kCandidateValidity / 2 < now;
  };
  if (std::any_of(candidates.begin(), candidates.end(), is_old)) return true;
  ASSIGN_OR_RETURN(const std::string strategy, StrategyOf(candidates));
  if (strategy != kOldestEmulationVersion) return false;
  const meta::Object* const best = BestOf(candidates);
  return best && best->Name() != Text(*lease, "holderIdentity");
}

/// A candidate that was asked, has not answered, and still has time to do so.
bool IsAwaited(const meta::Object& candidate, WallTime now) {
  const std::optional<WallTime> pinged = Time(candidate, "pingTime"), renewed = Time(candidate, "renewTime");
  return pinged && *pinged + kElectionDuration > now && (!renewed || *renewed < *pinged);
}
bool IsAlive(const meta::Object& candidate, WallTime now) {
  const std::optional<WallTime> renewed = Time(candidate, "renewTime");
  return renewed && *renewed + kElectionDuration > now;
}
/// A candidate that did not answer the last time is not asked again.
bool MustBeAsked(const meta::Object& candidate, WallTime now) {
  const std::optional<WallTime> pinged = Time(candidate, "pingTime"), renewed = Time(candidate, "renewTime");
  if (!pinged) return true;
  return *pinged + kElectionDuration < now && renewed && *renewed >= *pinged;
}

}  // namespace

bool IsExpiredCandidate(const meta::Object& candidate, WallTime now) {
  const std::optional<WallTime> renewed = Time(candidate, "renewTime");
  return !renewed || *renewed + kCandidateValidity < now;
}

meta::Result<ElectionStep> NextStep(const std::vector<meta::Object>& all, const meta::Object* lease, WallTime now) {
  ElectionStep step;
  if (all.empty()) return step;
  std::vector<const meta::Object*> candidates, alive;
  for (const meta::Object& candidate : all) candidates.push_back(&candidate);
  ASSIGN_OR_RETURN(const bool needed, NeedsElection(candidates, lease, now));
  if (!needed) return step;
  bool waits = false;
  for (const meta::Object* candidate : candidates) {
    if (IsAwaited(*candidate, now)) {
      waits = true;
    } else if (IsAlive(*candidate, now)) {
      alive.push_back(candidate);
    } else if (MustBeAsked(*candidate, now)) {
      step.ping.push_back(candidate);
    }
  }
  if (waits || !step.ping.empty()) return step;
  if (alive.empty()) return meta::PlainError("no available candidates");
  ASSIGN_OR_RETURN(std::string strategy, StrategyOf(alive));
  ElectionStep::Vote vote{std::move(strategy), ""};
  if (vote.strategy == kOldestEmulationVersion) {
    const meta::Object* const best = BestOf(alive);
    if (!best) return meta::PlainError("no candidate has a valid version");
    vote.leader = best->Name();
  }
  step.vote = std::move(vote);
  return step;
}

json::object NewLease(const ElectionStep::Vote& vote, std::string_view ns, std::string_view name, WallTime now) {
  json::object spec;
  spec["strategy"] = vote.strategy;
  spec["leaseDurationSeconds"] = kLeaseSeconds;
  spec["renewTime"] = meta::FormatMicroTime(now);
  if (!vote.leader.empty()) spec["holderIdentity"] = vote.leader;
  json::object lease;
  lease["apiVersion"] = "coordination.k8s.io/v1";
  lease["kind"] = "Lease";
  lease["metadata"] = {{"namespace", ns}, {"name", name}};
  lease["spec"] = std::move(spec);
  return lease;
}

bool ApplyVote(const ElectionStep::Vote& vote, WallTime now, meta::Object& lease) {
  const std::string holder(Text(lease, "holderIdentity"));
  const bool other = !vote.leader.empty() && vote.leader != holder, expired = IsExpiredLease(lease, now);
  json::object& spec = meta::MakeObject(lease.Root(), "spec");
  bool changed = false;
  if (meta::FindString(spec, "strategy") != vote.strategy) {
    spec["strategy"] = vote.strategy;
    changed = true;
  }
  if (!other) return changed;
  if (holder.empty() || expired) {
    meta::EraseField(spec, "preferredHolder");
    meta::EraseField(spec, "acquireTime");
    spec["holderIdentity"] = vote.leader;
    spec["renewTime"] = meta::FormatMicroTime(now);
    spec["leaseDurationSeconds"] = kLeaseSeconds;
    return true;
  }
  if (meta::FindString(spec, "preferredHolder") == vote.leader) return changed;
  spec["preferredHolder"] = vote.leader;
  return true;
}

}  // namespace apimesh::core_api
