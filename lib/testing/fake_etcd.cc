#include "lib/testing/fake_etcd.h"

#include <fmt/format.h>

namespace apimesh::testing {
using etcd::Error;
using etcd::KeyValue;
using etcd::Revision;

namespace {

bool InRange(const std::string& key, const std::string& from, const std::string& end) {
  if (end.empty()) return key == from;
  return key >= from && (end == std::string(1, '\0') || key < end);
}

Error Compacted(Revision compacted) {
  return {Error::Code::kCompacted, "etcdserver: mvcc: required revision has been compacted", compacted};
}

}  // namespace

class FakeEtcd::FakeWatch final : public etcd::Watch {
 public:
  FakeWatch(FakeEtcd* owner, etcd::WatchOptions options) : owner_(owner), options_(std::move(options)) {}
  ~FakeWatch() override {
    const std::lock_guard lock(owner_->mutex_);
    owner_->watches_.erase(this);
  }

  Task<etcd::Result<etcd::WatchBatch>> Next() override {
    for (;;) {
      std::shared_ptr<Wakeup> wakeup;
      {
        const std::lock_guard lock(owner_->mutex_);
        if (error) co_return *error;
        if (!owner_->hold_watches_) {
          if (next <= owner_->compacted_) co_return Compacted(owner_->compacted_);
          if (auto batch = TakeEvents()) co_return *batch;
        }
        wakeup = sleeper = Wakeup::New();
      }
      const bool woken = co_await Wakeup::Wait(wakeup);
      if (!woken) co_return Error{Error::Code::kCancelled, "cancelled"};
    }
  }

  void RequestProgress() override {
    const std::lock_guard lock(owner_->mutex_);
    if (!owner_->progress_safe_) return;
    // Progress is sent to all watches, as on a shared stream.
    for (FakeWatch* watch : owner_->watches_) watch->progress = true;
    owner_->WakeWatches();
  }

  // The owner's mutex_ guards these members.
  Revision next = 0;
  bool progress = false;
  std::optional<Error> error;
  std::shared_ptr<Wakeup> sleeper;

 private:
  std::optional<etcd::WatchBatch> TakeEvents() {
    etcd::WatchBatch batch;
    for (const etcd::WatchEvent& event : owner_->log_) {
      if (event.kv.mod_revision < next || !InRange(event.kv.key, options_.key, options_.range_end)) continue;
      batch.events.push_back(event);
      if (!options_.previous) batch.events.back().previous = {};
    }
    batch.revision = owner_->revision_;
    if (!batch.events.empty()) {
      batch.revision = batch.events.back().kv.mod_revision;
    } else if (std::exchange(progress, false)) {
      batch.progress = true;
    } else {
      return std::nullopt;
    }
    next = std::max(next, batch.revision + 1);
    return batch;
  }

  FakeEtcd* const owner_;
  const etcd::WatchOptions options_;
};

FakeEtcd::FakeEtcd() = default;
FakeEtcd::~FakeEtcd() = default;

const KeyValue* FakeEtcd::At(const std::string& key, Revision revision) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  for (auto kv = found->second.rbegin(); kv != found->second.rend(); ++kv) {
    if (kv->mod_revision <= revision) return kv->version > 0 ? &*kv : nullptr;
  }
  return nullptr;
}

Revision FakeEtcd::Apply(const std::string& key, std::optional<std::string> value, std::int64_t lease) {
  const KeyValue* current = At(key, revision_);
  if (!value && !current) return revision_;
  etcd::WatchEvent event;
  event.deleted = !value;
  if (current) event.previous = *current;
  event.kv.key = key;
  event.kv.mod_revision = ++revision_;
  KeyValue stored = event.kv;
  if (value) {
    stored.value = std::move(*value);
    stored.create_revision = current ? current->create_revision : revision_;
    stored.version = current ? current->version + 1 : 1;
    stored.lease = lease;
    event.kv = stored;
  }
  keys_[key].push_back(std::move(stored));
  log_.push_back(std::move(event));
  WakeWatches();
  return revision_;
}

void FakeEtcd::WakeWatches() {
  for (FakeWatch* watch : watches_) {
    if (watch->sleeper) std::exchange(watch->sleeper, nullptr)->Wake();
  }
}

std::optional<Error> FakeEtcd::TakeFault(Fault* fault) {
  ++writes_;
  *fault = Fault::kNone;
  if (before_write_) {
    const auto other = std::exchange(before_write_, nullptr);
    mutex_.unlock();
    other(*this);
    mutex_.lock();
  }
  if (faults_.empty()) return std::nullopt;
  *fault = faults_.front();
  faults_.pop_front();
  if (*fault == Fault::kUnavailable) return Error{Error::Code::kUnavailable, "failed to connect to all addresses"};
  if (*fault == Fault::kAmbiguousNotDone) return Error{Error::Code::kAmbiguous, "connection lost"};
  return std::nullopt;
}

Task<etcd::Result<etcd::RangeResult>> FakeEtcd::Range(std::string key, etcd::RangeOptions options) {
  std::shared_ptr<Wakeup> held;
  {
    const std::lock_guard lock(mutex_);
    ++reads_;
    if (hold_reads_) held_reads_.push_back(held = Wakeup::New());
  }
  if (held) co_await Wakeup::Wait(held);
  const std::lock_guard lock(mutex_);
  if (fail_reads_) co_return Error{Error::Code::kUnavailable, "failed to connect to all addresses"};
  if (options.revision > revision_) {
    co_return Error{Error::Code::kFutureRevision, "etcdserver: mvcc: required revision is a future revision"};
  }
  if (options.revision > 0 && options.revision < compacted_) co_return Compacted(compacted_);
  etcd::RangeResult result;
  result.revision = revision_;
  const Revision at = options.revision > 0 ? options.revision : revision_;
  for (auto entry = keys_.lower_bound(key); entry != keys_.end(); ++entry) {
    if (!InRange(entry->first, key, options.range_end)) break;
    const KeyValue* kv = At(entry->first, at);
    if (!kv) continue;
    ++result.count;
    if (options.count_only) continue;
    if (options.limit > 0 && static_cast<std::int64_t>(result.kvs.size()) >= options.limit) {
      result.more = true;
      continue;
    }
    result.kvs.push_back(*kv);
    if (options.keys_only) result.kvs.back().value.clear();
  }
  co_return result;
}

Task<etcd::Result<Revision>> FakeEtcd::Put(std::string key, std::string value, std::int64_t lease, SteadyTime) {
  const std::lock_guard lock(mutex_);
  Fault fault;
  if (auto error = TakeFault(&fault)) co_return *error;
  const Revision revision = Apply(key, std::move(value), lease);
  if (fault == Fault::kAmbiguousDone) co_return Error{Error::Code::kAmbiguous, "connection lost"};
  co_return revision;
}

Task<etcd::Result<etcd::SwapResult>> FakeEtcd::Swap(etcd::CompareAndSwap swap) {
  const std::lock_guard lock(mutex_);
  Fault fault;
  if (auto error = TakeFault(&fault)) co_return *error;
  etcd::SwapResult result;
  const KeyValue* current = At(swap.key, revision_);
  result.swapped = (current ? current->mod_revision : 0) == swap.expected_mod_revision;
  if (result.swapped) {
    Apply(swap.key, swap.remove ? std::nullopt : std::optional<std::string>(std::move(swap.value)), swap.lease);
  } else if (current) {
    result.current.push_back(*current);
  }
  result.revision = revision_;
  if (fault == Fault::kAmbiguousDone) co_return Error{Error::Code::kAmbiguous, "connection lost"};
  co_return result;
}

Task<etcd::Result<std::int64_t>> FakeEtcd::DeleteRange(std::string key, std::string range_end, SteadyTime) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> doomed;
  for (const auto& [name, _] : keys_) {
    if (InRange(name, key, range_end) && At(name, revision_)) doomed.push_back(name);
  }
  for (const std::string& name : doomed) Apply(name, std::nullopt, 0);
  co_return static_cast<std::int64_t>(doomed.size());
}

Task<etcd::Result<Revision>> FakeEtcd::Compact(Revision revision, SteadyTime) {
  const std::lock_guard lock(mutex_);
  if (revision <= compacted_) co_return Compacted(compacted_);
  if (revision > revision_) {
    co_return Error{Error::Code::kFutureRevision, "etcdserver: mvcc: required revision is a future revision"};
  }
  compacted_ = revision;
  std::erase_if(log_, [&](const etcd::WatchEvent& event) { return event.kv.mod_revision <= revision; });
  for (auto& [_, versions] : keys_) {
    // The latest version at the compacted revision is kept, unless it is a deletion.
    while (versions.size() > 1 && versions[1].mod_revision <= revision) versions.erase(versions.begin());
    if (!versions.empty() && versions[0].mod_revision <= revision && versions[0].version == 0)
      versions.erase(versions.begin());
  }
  co_return revision_;
}

std::unique_ptr<etcd::Watch> FakeEtcd::OpenWatch(etcd::WatchOptions options) {
  const Revision start = options.start_revision;
  auto watch = std::make_unique<FakeWatch>(this, std::move(options));
  const std::lock_guard lock(mutex_);
  watch->next = start > 0 ? start : revision_ + 1;
  watches_.insert(watch.get());
  return watch;
}

Task<etcd::Result<std::int64_t>> FakeEtcd::GrantLease(std::chrono::seconds, SteadyTime) {
  const std::lock_guard lock(mutex_);
  co_return ++last_lease_;
}

Task<etcd::Result<>> FakeEtcd::RevokeLease(std::int64_t lease, SteadyTime) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> doomed;
  for (const auto& [name, _] : keys_) {
    const KeyValue* kv = At(name, revision_);
    if (kv && kv->lease == lease) doomed.push_back(name);
  }
  for (const std::string& name : doomed) Apply(name, std::nullopt, 0);
  co_return etcd::Result<>();
}

Task<etcd::Result<>> FakeEtcd::KeepLeaseAlive(std::int64_t, SteadyTime) { co_return etcd::Result<>(); }

Task<etcd::Result<etcd::Status>> FakeEtcd::GetStatus(SteadyTime) {
  const std::lock_guard lock(mutex_);
  etcd::Status status;
  status.version = "3.6.0";
  status.revision = revision_;
  co_return status;
}

bool FakeEtcd::ProgressIsSafe() const {
  const std::lock_guard lock(mutex_);
  return progress_safe_;
}

void FakeEtcd::FailWrites(Fault fault, int count) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) faults_.push_back(fault);
}

void FakeEtcd::FailReads(bool on) {
  const std::lock_guard lock(mutex_);
  fail_reads_ = on;
}

void FakeEtcd::HoldReads(bool on) {
  const std::lock_guard lock(mutex_);
  hold_reads_ = on;
  for (const auto& held : std::exchange(held_reads_, {})) held->Wake();
}

void FakeEtcd::HoldWatches(bool on) {
  const std::lock_guard lock(mutex_);
  hold_watches_ = on;
  WakeWatches();
}

void FakeEtcd::EndWatches(Error error) {
  const std::lock_guard lock(mutex_);
  for (FakeWatch* watch : watches_) watch->error = error;
  WakeWatches();
}

void FakeEtcd::SetProgressSafe(bool safe) {
  const std::lock_guard lock(mutex_);
  progress_safe_ = safe;
}

void FakeEtcd::RestoreTo(Revision revision) {
  const std::lock_guard lock(mutex_);
  for (FakeWatch* watch : watches_) {
    if (watch->next > revision + 1) {
      watch->error =
          Error{Error::Code::kFutureRevision, fmt::format("etcd is at revision {}: it was restored", revision)};
    }
  }
  std::erase_if(log_, [&](const etcd::WatchEvent& event) { return event.kv.mod_revision > revision; });
  for (auto& [_, versions] : keys_) {
    std::erase_if(versions, [&](const KeyValue& kv) { return kv.mod_revision > revision; });
  }
  revision_ = revision;
  WakeWatches();
}

void FakeEtcd::BeforeNextWrite(std::function<void(FakeEtcd&)> other) {
  const std::lock_guard lock(mutex_);
  before_write_ = std::move(other);
}

Revision FakeEtcd::Set(const std::string& key, std::optional<std::string> value) {
  const std::lock_guard lock(mutex_);
  return Apply(key, std::move(value), 0);
}

Revision FakeEtcd::NewestRevision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

int FakeEtcd::Reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

int FakeEtcd::Writes() const {
  const std::lock_guard lock(mutex_);
  return writes_;
}

}  // namespace apimesh::testing
