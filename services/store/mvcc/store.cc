#include "services/store/mvcc/store.h"

#include "services/store/mvcc/errors.h"

namespace apimesh::store {
namespace {

constexpr std::size_t kRecentBytes = 4 * 1024 * 1024;  // kept in memory although they are in the base
constexpr std::size_t kCompactedKeysATurn = 5000;

}  // namespace

class Store::FromBase : public StateVisitor {
 public:
  explicit FromBase(Store& store) : store_(store) {}
  void OnChange(const Change& change) override { store_.Apply(change); }
  void OnLeaseGranted(LeaseId id, std::int64_t ttl) override { store_.lessor_.Grant(id, ttl); }
  void OnLeaseRevoked(LeaseId id) override { store_.lessor_.Revoke(id); }
  void OnCompacted(Revision revision) override { store_.compacted_ = revision; }
  void OnAlarm(int, bool active) override { store_.no_space_ = active; }

 protected:
  Store& store_;
};

class Store::FromLog final : public FromBase {
 public:
  using FromBase::FromBase;
  void OnChange(const Change& change) override {
    store_.recent_.Append(change);
    store_.Apply(change);
  }
};

void Store::Recover() {
  FromBase from_base(*this);
  FromLog from_log(*this);
  journal_.Recover(from_base, from_log);
  // If every key was deleted and compacted, only these numbers record the last revision.
  applied_ = std::max({applied_, compacted_, static_cast<Revision>(journal_.View().Number(Base::kRevision))});
  durable_ = applied_;
  durable_sequence_ = journal_.LastSequence();
  lessor_.RenewAll();
  if (compacted_ > 0) {
    compacting_ = compacted_;
    RunCompaction();
  }
}

void Store::Apply(const Change& change) {
  if (const LeaseId before = index_.Apply(change)) lessor_.Detach(before, change.key);
  if (change.lease != 0) lessor_.Attach(change.lease, change.key);
  applied_ = std::max(applied_, change.id.main);
}

std::string_view Store::ValueOf(ChangeId id) const {
  if (const std::string* value = recent_.Value(id)) return *value;
  return journal_.View().Value(id);
}

Change Store::WithValue(std::string_view key, const KeyVersion& version) const {
  return {version.id, false, key, ValueOf(version.id), version.create, version.version, version.lease};
}

std::optional<Change> Store::Get(std::string_view key, Revision revision) const {
  const KeyIndex::Entry* entry = index_.Find(key);
  const KeyVersion* version = entry == nullptr ? nullptr : entry->At(revision);
  if (version == nullptr) return std::nullopt;
  return WithValue(entry->key, *version);
}

void Store::ScanChanges(Revision from, Revision to, const std::function<bool(const Change&)>& visit) const {
  const Revision in_memory = recent_.FirstCompleteRevision(applied_);
  if (from < in_memory) {
    bool stopped = false;
    const auto from_base = [&](const Change& change) {
      if (change.id.main >= in_memory || change.id.main > to) return false;
      stopped = !visit(change);
      return !stopped;
    };
    journal_.View().Scan({from, 0}, false, from_base);
    if (stopped) return;
    from = in_memory;
  }
  for (std::size_t i = recent_.LowerBound({from, 0}); i < recent_.size(); ++i) {
    const Change change = recent_.At(i);
    if (change.id.main > to || !visit(change)) return;
  }
}

void Store::Begin() {
  next_sub_ = 0;
  entry_ = {};
}

Revision Store::Put(std::string_view key, std::string_view value, LeaseId lease) {
  Change change{.id = {applied_ + (next_sub_ == 0 ? 1 : 0), next_sub_}, .key = key, .value = value, .lease = lease};
  const KeyIndex::Entry* entry = index_.Find(key);
  const KeyVersion* previous = entry == nullptr ? nullptr : entry->At(change.id.main);
  change.create = previous == nullptr ? change.id.main : previous->create;
  change.version = previous == nullptr ? 1 : previous->version + 1;
  ++next_sub_;
  entry_.OnChange(change);
  recent_.Append(change);
  Apply(change);
  return change.id.main;
}

bool Store::Delete(std::string_view key) {
  const KeyIndex::Entry* entry = index_.Find(key);
  if (entry == nullptr || entry->At(applied_ + 1) == nullptr) return false;
  const Change change{.id = {applied_ + (next_sub_ == 0 ? 1 : 0), next_sub_}, .deleted = true, .key = entry->key};
  ++next_sub_;
  entry_.OnChange(change);
  recent_.Append(change);
  Apply(change);
  return true;
}

void Store::GrantLease(LeaseId id, std::int64_t ttl_seconds) {
  lessor_.Grant(id, ttl_seconds);
  entry_.OnLeaseGranted(id, ttl_seconds);
}

void Store::RevokeLease(LeaseId id) {
  if (const auto info = lessor_.Find(id)) {
    const std::vector<std::string> keys(info->keys->begin(), info->keys->end());
    for (const std::string& key : keys) Delete(key);
  }
  lessor_.Revoke(id);
  entry_.OnLeaseRevoked(id);
}

void Store::SetNoSpaceAlarm(bool active) {
  no_space_ = active;
  entry_.OnAlarm(1, active);
}

void Store::End() {
  if (entry_.Empty()) return;
  in_flight_.push_back({journal_.Append(entry_), applied_});
}

void Store::WhenDurable(std::function<void()> ready) {
  if (journal_.LastSequence() <= durable_sequence_) return ready();
  waiting_.push_back({journal_.LastSequence(), std::move(ready)});
}

void Store::OnDurable(std::uint64_t sequence) {
  const Revision before = durable_;
  durable_sequence_ = std::max(durable_sequence_, sequence);
  while (!in_flight_.empty() && in_flight_.front().sequence <= durable_sequence_) {
    durable_ = in_flight_.front().revision;
    in_flight_.pop_front();
  }
  if (durable_ > before && on_durable) on_durable(before, durable_);
  while (!waiting_.empty() && waiting_.front().sequence <= durable_sequence_) {
    const std::function<void()> ready = std::move(waiting_.front().ready);
    waiting_.pop_front();
    ready();
  }
}

void Store::OnBaseGrew(Revision in_base) { recent_.Trim(in_base, kRecentBytes); }

Status Store::Compact(Revision revision, std::function<void()> physical) {
  if (revision <= compacted_) return errors::Compacted();
  if (revision > applied_) return errors::FutureRevision();
  compacted_ = revision;
  Begin();
  entry_.OnCompacted(revision);
  End();
  // Readers use Durable(), which may still be less than `revision`. Versions are removed when it has reached
  // `revision`.
  WhenDurable([this, physical = std::move(physical)] {
    if (physical) physical_.push_back(physical);
    const bool running = compacting_ != 0;
    compacting_ = compacted_;
    if (!running) RunCompaction();
  });
  return {};
}

void Store::RunCompaction() {
  if (!index_.Compact(compacting_, kCompactedKeysATurn, dropped_)) {
    journal_.Later([this] { RunCompaction(); });
    return;
  }
  compacting_ = 0;
  auto done = [physical = std::move(physical_)] {
    for (const auto& ready : physical) ready();
  };
  physical_.clear();
  journal_.Erase(std::move(dropped_), std::move(done));
  dropped_.clear();
}

}  // namespace apimesh::store
