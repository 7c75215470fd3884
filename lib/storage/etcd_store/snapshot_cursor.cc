#include "lib/storage/etcd_store/snapshot_cursor.h"

#include "lib/storage/continue_token.h"

namespace apimesh::storage {

SnapshotCursor::SnapshotCursor(SnapshotPtr snapshot, Filter filter, Range range, WatchCache::Candidates candidates)
    : snapshot_(std::move(snapshot)),
      walked_(candidates.tree ? *candidates.tree : snapshot_->tree),
      exact_(candidates.exact),
      filter_(std::move(filter)),
      range_(std::move(range)) {
  position_ = range_.start.empty() ? filter_.prefix : range_.start;
}

std::vector<EntryPtr> SnapshotCursor::Next(std::size_t max) {
  std::vector<EntryPtr> items;
  if (done_) return items;
  if (!filter_.one.empty()) {
    done_ = true;
    const CachedEntryPtr entry = snapshot_->tree.Find(filter_.one);
    if (entry && entry->KeyText() >= position_ && filter_.Matches(*entry)) items.push_back(entry);
    return items;
  }
  std::string last;
  bool stopped = false;
  walked_.Walk(position_, [&](const CachedEntryPtr& entry) {
    if (!std::string_view(entry->KeyText()).starts_with(filter_.prefix)) return false;
    if (items.size() >= max) {
      position_ = entry->KeyText();
      return !(stopped = true);
    }
    if (!exact_ && !filter_.Matches(*entry)) return true;
    items.push_back(entry);
    if (++given_ != range_.limit) return true;
    last = entry->KeyText();
    return !(stopped = true);
  });
  if (!last.empty()) EndPage(last);
  done_ = !stopped || !last.empty();
  return items;
}

void SnapshotCursor::EndPage(const std::string& last) {
  const Tree& tree = snapshot_->tree;
  const std::string after = last + '\0';
  std::string end = filter_.prefix;
  if (!end.empty()) end.back() = '/' + 1;
  const std::size_t all = filter_.prefix.empty() ? tree.size() : tree.CountBefore(end);
  const std::int64_t left = static_cast<std::int64_t>(all - tree.CountBefore(after)) + range_.beyond;
  if (left == 0) return;
  storage::ContinueToken token;
  token.revision = static_cast<std::int64_t>(snapshot_->revision);
  token.start = after.substr(filter_.prefix.size());
  token_ = token.Encode();
  if (filter_.SelectorsEmpty()) remaining_ = left;
}

}  // namespace apimesh::storage
