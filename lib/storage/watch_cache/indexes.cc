#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {
namespace {

constexpr std::size_t kMinObjectsForIndex = 200;  // with fewer objects a full scan is as fast
constexpr int kUsesBeforeIndex = 3;
constexpr std::size_t kMaxIndexes = 8, kMaxUses = 64;
constexpr auto kUnusedIndexLifetime = std::chrono::minutes(10);

}  // namespace

WatchCache::Candidates WatchCache::FindCandidates(const Snapshot& snapshot, const Filter& filter) {
  if (filter.SelectorsEmpty() || snapshot.tree.size() < kMinObjectsForIndex) return {};
  static const Tree kNothing;
  const std::vector<IndexTerm> terms = TermsOf(filter);
  const Tree* narrowest = nullptr;
  for (const IndexTerm& term : terms) {
    for (const auto& index : snapshot.indexes) {
      if (index->By() != term.by) continue;
      const Tree* found = index->Find(term.value);
      if (!found) found = &kNothing;
      if (!narrowest || found->size() < narrowest->size()) narrowest = found;
    }
  }
  std::vector<IndexedBy> wanted;
  {
    const SteadyTime now = options_.clock.Steady();
    const std::lock_guard lock(uses_mutex_);
    for (const IndexTerm& term : terms) {
      auto use = std::find_if(uses_.begin(), uses_.end(), [&](const Use& one) { return one.by == term.by; });
      if (use == uses_.end() && uses_.size() < kMaxUses) use = uses_.insert(use, {term.by});
      if (use == uses_.end()) continue;
      use->last = now;
      use->times = std::min(use->times + 1, kUsesBeforeIndex);
      const bool there = std::any_of(snapshot.indexes.begin(), snapshot.indexes.end(),
                                     [&](const auto& index) { return index->By() == term.by; });
      if (use->times == kUsesBeforeIndex && !there) wanted.push_back(term.by);
    }
  }
  // The third request for a term builds the index for later requests. From then on the feed keeps it up to date.
  for (IndexedBy& by : wanted) AddIndex(snapshot, std::move(by));
  const bool one_term = filter.labels.Requirements().size() + filter.fields.Terms().size() == 1;
  return {narrowest, narrowest && one_term};
}

void WatchCache::AddIndex(const Snapshot& snapshot, IndexedBy by) {
  if (snapshot.indexes.size() >= kMaxIndexes || Current().get() != &snapshot) return;
  auto index = std::make_shared<const Index>(Index::Of(std::move(by), snapshot.tree));
  const std::lock_guard lock(mutex_);
  const std::lock_guard inner(snapshot_mutex_);
  // There is a newer state, which has the index or gets it with the next request.
  if (snapshot_.get() != &snapshot) return;
  auto indexed = std::make_shared<Snapshot>(snapshot);
  indexed->indexes.push_back(std::move(index));
  snapshot_ = std::move(indexed);
}

/// Only the feed calls this, when it derives a new state from the previous one.
void WatchCache::UpdateIndexes(const Snapshot& before, Snapshot& after, const std::vector<CacheEventPtr>& events) {
  std::vector<IndexedBy> wanted;
  {
    const SteadyTime oldest = options_.clock.Steady() - kUnusedIndexLifetime;
    const std::lock_guard lock(uses_mutex_);
    std::erase_if(uses_, [oldest](const Use& use) { return use.last < oldest; });
    for (const Use& use : uses_) {
      if (use.times >= kUsesBeforeIndex && wanted.size() < kMaxIndexes) wanted.push_back(use.by);
    }
  }
  if (wanted.empty() || after.tree.size() < kMinObjectsForIndex) return;
  for (IndexedBy& by : wanted) {
    const auto known = std::find_if(before.indexes.begin(), before.indexes.end(),
                                    [&](const auto& index) { return index->By() == by; });
    if (known == before.indexes.end()) {
      after.indexes.push_back(std::make_shared<const Index>(Index::Of(std::move(by), after.tree)));
    } else if (events.empty()) {
      after.indexes.push_back(*known);
    } else {
      auto next = std::make_shared<Index>(**known);
      for (const CacheEventPtr& event : events) {
        next->Replace(event->previous, event->type == Event::Type::kDeleted ? nullptr : event->object);
      }
      next->Freeze();
      after.indexes.push_back(std::move(next));
    }
  }
}

}  // namespace apimesh::storage
