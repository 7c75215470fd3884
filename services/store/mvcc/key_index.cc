#include "services/store/mvcc/key_index.h"

#include <algorithm>

namespace apimesh::store {

const KeyVersion* KeyIndex::Entry::At(Revision revision) const {
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (it->id.main <= revision) return it->deleted ? nullptr : &*it;
  }
  return nullptr;
}

LeaseId KeyIndex::Apply(const Change& change) {
  auto it = keys_.lower_bound(change.key);
  if (it == keys_.end() || it->first != change.key) {
    auto entry = std::make_unique<Entry>();
    entry->key = change.key;
    const std::string_view key = entry->key;
    it = keys_.emplace_hint(it, key, Slot{std::move(entry)});
  }
  Entry& entry = *it->second.entry;
  it->second.newest = change.id.main;
  it->second.exists = !change.deleted;
  if (!entry.versions.empty() || change.deleted) {
    garbage_.push_back({change.id.main, &entry});
    ++entry.in_garbage_queue;
  }
  const LeaseId lease_before = entry.versions.empty() ? 0 : entry.versions.back().lease;
  entry.versions.push_back({change.id, change.deleted, change.create, change.version, change.lease});
  return lease_before;
}

const KeyIndex::Entry* KeyIndex::Find(std::string_view key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? nullptr : it->second.entry.get();
}

std::int64_t KeyIndex::CountAfter(std::string_view after, std::string_view end, Revision revision) const {
  std::int64_t count = 0;
  const bool to_the_end = end.size() == 1 && end[0] == '\0';
  if (!to_the_end && end <= after) return 0;
  const auto stop = to_the_end ? keys_.end() : keys_.lower_bound(end);
  for (auto it = keys_.upper_bound(after); it != stop; ++it) {
    const bool exists = it->second.newest <= revision ? it->second.exists : it->second.entry->At(revision) != nullptr;
    count += exists ? 1 : 0;
  }
  return count;
}

void KeyIndex::CompactEntry(Entry& entry, Revision revision, std::vector<ChangeId>& dropped) {
  const auto newer = std::ranges::find_if(entry.versions, [&](const KeyVersion& v) { return v.id.main > revision; });
  if (newer == entry.versions.begin()) return;
  auto keep = newer - 1;
  if (keep->deleted && keep->id.main < revision) ++keep;
  for (auto it = entry.versions.begin(); it != keep; ++it) dropped.push_back(it->id);
  entry.versions.erase(entry.versions.begin(), keep);
  if (entry.versions.capacity() > 4 && entry.versions.size() == 1) entry.versions.shrink_to_fit();
}

bool KeyIndex::Compact(Revision revision, std::size_t bound, std::vector<ChangeId>& dropped) {
  while (!garbage_.empty() && garbage_.front().since <= revision) {
    if (bound-- == 0) return false;
    const Garbage garbage = garbage_.front();
    garbage_.pop_front();
    Entry& entry = *garbage.entry;
    CompactEntry(entry, revision, dropped);
    const bool deleted_just_then = !entry.versions.empty() && entry.versions.front().deleted &&
                                   entry.versions.front().id.main == revision && garbage.since == revision;
    if (deleted_just_then) {
      kept_.push_back(garbage);
      continue;
    }
    if (--entry.in_garbage_queue == 0 && entry.versions.empty()) keys_.erase(entry.key);
  }
  garbage_.insert(garbage_.begin(), kept_.begin(), kept_.end());
  kept_.clear();
  return true;
}

}  // namespace apimesh::store
