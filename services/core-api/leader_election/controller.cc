#include "services/core-api/leader_election/controller.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/core-api/leader_election/election.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kOwnLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
constexpr const char* kOwnLease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller";
constexpr const char* kAllCandidates = "/apis/coordination.k8s.io/v1beta1/leasecandidates";
constexpr std::chrono::seconds kMaxPause{1};  // between two looks at the candidates
constexpr std::chrono::minutes kCollectPeriod{30};

std::string LeasesPath(std::string_view ns) {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", ns);
}
std::string CandidatePath(const meta::Object& candidate) {
  return fmt::format("/apis/coordination.k8s.io/v1beta1/namespaces/{}/leasecandidates/{}", candidate.Namespace(),
                     candidate.Name());
}

void LogFailure(std::string_view what, const meta::ApiError& error) {
  if (!error.Is(meta::Reason::kConflict) && !error.Is(meta::Reason::kNotFound))
    log::Warning("leader election: {}: {}", what, error.Message());
}

}  // namespace

Task<> LeaderElection::Run(std::shared_ptr<LeaderElection> self) {
  const Clock& clock = self->api_->GetClock();
  const Duration pause = std::min<Duration>(self->flags_.retry_period, kMaxPause);
  SteadyTime tried{};
  for (;;) {
    if (tried == SteadyTime{} || clock.Steady() - tried >= self->flags_.retry_period) {
      tried = clock.Steady();
      const bool acquired = co_await self->Acquire();
      if (acquired && !self->leads_) log::Info("leader election: this server chooses the leaders of components");
      if (acquired) self->renewed_ = clock.Steady();
      self->leads_ = acquired || (self->leads_ && clock.Steady() - self->renewed_ < self->flags_.renew_deadline);
    }
    if (self->leads_) {
      co_await self->Elect();
      co_await self->CollectExpired();
    }
    const bool running = co_await self->api_->Sleep(pause);
    if (!running) co_return;
  }
}

Task<bool> LeaderElection::Acquire() {
  const Clock& clock = api_->GetClock();
  const std::string now = meta::FormatMicroTime(clock.Now());
  meta::Result<meta::Object> found = co_await api_->GetOnce(kOwnLease);
  if (!found && !found.error().Is(meta::Reason::kNotFound)) co_return false;
  json::object document;
  document["apiVersion"] = "coordination.k8s.io/v1";
  document["kind"] = "Lease";
  document["metadata"] = {{"name", "leader-election-controller"}, {"namespace", "kube-system"}};
  meta::Object lease(found ? std::move(found->Root()) : std::move(document));
  const std::string holder(meta::FindString(lease.Root(), "spec", "holderIdentity"));
  if (found && !holder.empty() && holder != identity_) {
    // The clocks of other servers are not compared with that of this one: the lease is free when it has not changed
    // for its duration.
    std::string text = codec::WriteJson(lease.Root());
    if (text != seen_) {
      seen_ = std::move(text);
      seen_since_ = clock.Steady();
    }
    const json::value* const seconds = meta::Find(lease.Root(), "spec", "leaseDurationSeconds");
    const Duration validity = seconds && seconds->is_int64() ? Duration(std::chrono::seconds(seconds->get_int64()))
                                                             : Duration(flags_.lease_duration);
    if (clock.Steady() - seen_since_ < validity) co_return false;
  }
  json::object& spec = meta::MakeObject(lease.Root(), "spec");
  if (holder != identity_) {
    const json::value* const transitions = meta::FindField(spec, "leaseTransitions");
    spec["leaseTransitions"] = found ? (transitions && transitions->is_int64() ? transitions->get_int64() : 0) + 1 : 0;
    spec["acquireTime"] = now;
  }
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(flags_.lease_duration).count();
  spec["renewTime"] = now;
  std::string body = codec::WriteJson(lease.Root());
  const meta::Result<meta::Object> written =
      co_await api_->Once(found ? "PUT" : "POST", std::string(found ? kOwnLease : kOwnLeases), std::move(body));
  co_return written.has_value();
}

Task<> LeaderElection::Release(std::shared_ptr<LeaderElection> self) {
  if (!std::exchange(self->leads_, false)) co_return;
  meta::Result<meta::Object> found = co_await self->api_->GetOnce(kOwnLease);
  if (!found || meta::FindString(found->Root(), "spec", "holderIdentity") != self->identity_) co_return;
  const std::string now = meta::FormatMicroTime(self->api_->GetClock().Now());
  json::object& spec = meta::MakeObject(found->Root(), "spec");
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["renewTime"] = now;
  spec["acquireTime"] = now;
  std::string body = codec::WriteJson(found->Root());
  const meta::Result<meta::Object> written = co_await self->api_->Once("PUT", kOwnLease, std::move(body));
  if (!written) LogFailure("release of the lease", written.error());
}

Task<meta::Result<std::vector<meta::Object>>> LeaderElection::Candidates() {
  meta::Result<meta::Object> list = co_await api_->GetOnce(kAllCandidates);
  if (!list) co_return list.error();
  std::vector<meta::Object> candidates = mesh::TakeItems(*list);
  for (meta::Object& candidate : candidates) {
    candidate.Root()["apiVersion"] = "coordination.k8s.io/v1beta1";
    candidate.Root()["kind"] = "LeaseCandidate";
  }
  co_return candidates;
}

Task<> LeaderElection::Elect() {
  meta::Result<std::vector<meta::Object>> found = co_await Candidates();
  if (!found) co_return;
  const WallTime now = api_->GetClock().Now();
  std::map<std::pair<std::string, std::string>, std::vector<meta::Object>> by_lease;
  for (meta::Object& candidate : *found) {
    if (IsExpiredCandidate(candidate, now)) continue;
    const std::string lease(meta::FindString(candidate.Root(), "spec", "leaseName"));
    by_lease[{std::string(candidate.Namespace()), lease}].push_back(std::move(candidate));
  }
  for (auto& [lease, candidates] : by_lease) co_await ElectOne(lease.first, lease.second, std::move(candidates));
}

Task<> LeaderElection::ElectOne(std::string ns, std::string name, std::vector<meta::Object> candidates) {
  const std::string path = fmt::format("{}/{}", LeasesPath(ns), name);
  meta::Result<meta::Object> lease = co_await api_->GetOnce(path);
  if (!lease && !lease.error().Is(meta::Reason::kNotFound)) co_return;
  const WallTime now = api_->GetClock().Now();
  const meta::Result<ElectionStep> step = NextStep(candidates, lease ? &*lease : nullptr, now);
  if (!step) {
    log::Debug("leader election of {}/{}: {}", ns, name, step.error().Message());
    co_return;
  }
  for (const meta::Object* candidate : step->ping) co_await Ask(*candidate);
  if (!step->vote) co_return;
  std::string body;
  if (!lease) {
    body = codec::WriteJson(NewLease(*step->vote, ns, name, now));
    const meta::Result<meta::Object> created = co_await api_->Once("POST", LeasesPath(ns), std::move(body));
    if (created) log::Info("created lease {}/{} for \"{}\"", ns, name, step->vote->leader);
    if (!created) LogFailure(path, created.error());
    co_return;
  }
  if (!ApplyVote(*step->vote, now, *lease)) co_return;
  body = codec::WriteJson(lease->Root());
  const meta::Result<meta::Object> updated = co_await api_->Once("PUT", path, std::move(body));
  if (updated) log::Info("lease {}/{} shall be held by \"{}\"", ns, name, step->vote->leader);
  if (!updated) LogFailure(path, updated.error());
}

Task<> LeaderElection::Ask(meta::Object candidate) {
  const std::string path = CandidatePath(candidate);
  meta::MakeObject(candidate.Root(), "spec")["pingTime"] = meta::FormatMicroTime(api_->GetClock().Now());
  std::string body = codec::WriteJson(candidate.Root());
  const meta::Result<meta::Object> asked = co_await api_->Once("PUT", path, std::move(body));
  if (!asked) LogFailure(path, asked.error());
}

Task<> LeaderElection::CollectExpired() {
  const Clock& clock = api_->GetClock();
  if (collected_ != SteadyTime{} && clock.Steady() - collected_ < kCollectPeriod) co_return;
  const meta::Result<std::vector<meta::Object>> found = co_await Candidates();
  if (!found) co_return;
  collected_ = clock.Steady();
  for (const meta::Object& candidate : *found) {
    if (!IsExpiredCandidate(candidate, clock.Now())) continue;
    // It may have been renewed since it was cached.
    const std::string path = CandidatePath(candidate);
    const meta::Result<meta::Object> now = co_await api_->GetOnce(path);
    if (!now || !IsExpiredCandidate(*now, clock.Now())) continue;
    const meta::Result<> deleted = co_await api_->Delete(path);
    if (!deleted) LogFailure(path, deleted.error());
  }
}

}  // namespace apimesh::core_api
