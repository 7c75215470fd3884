#include <fmt/format.h>

#include "lib/storage/continue_token.h"
#include "lib/storage/errors.h"
#include "lib/storage/etcd_store.h"

namespace apimesh::storage {
namespace {

constexpr std::int64_t kPage = 1000;
constexpr std::size_t kNamed = 5;

/// Names what the list leaves out, so that someone can restore or delete it.
void WarnOfUnreadable(const meta::RequestContext& ctx, const Tree& tree, const std::string& prefix) {
  std::size_t count = 0;
  std::vector<std::string_view> named;
  tree.Walk(prefix, [&](const CachedEntryPtr& entry) {
    if (!std::string_view(entry->KeyText()).starts_with(prefix)) return false;
    if (entry->Error() && ++count <= kNamed) named.push_back(entry->KeyText());
    return true;
  });
  if (count == 0) return;
  ctx.Warn(fmt::format("{} stored object(s) can't be read and are missing in this list: {}{}", count, fmt::join(named, ", "),
                       count > kNamed ? ", ..." : ""));
}

}  // namespace

std::unique_ptr<ListCursor> EtcdStore::CursorOver(const meta::RequestContext& ctx, SnapshotPtr snapshot, Filter filter,
                                                  SnapshotCursor::Range range) {
  if (snapshot->unreadable > 0) WarnOfUnreadable(ctx, snapshot->tree, filter.prefix);
  const WatchCache::Narrowed narrowed = cache_->Narrow(*snapshot, filter);
  ++(narrowed.tree ? indexed_lists_ : lists_);
  return std::make_unique<SnapshotCursor>(std::move(snapshot), std::move(filter), std::move(range), narrowed);
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::List(meta::RequestContext ctx, ListOptions options) {
  const bool any = options.resource_version == "0";
  if (any) options.limit = 0;  // the reference gives all of its cache for "0"
  if (!options.continue_token.empty() && !options.resource_version.empty() && !any) {
    co_return meta::BadRequest("specifying resource version is not allowed when using continue");
  }
  const meta::Result<Revision> parsed = ParseResourceVersion(options.resource_version);
  if (!parsed) co_return meta::BadRequest("invalid resource version: " + parsed.error().Message());
  const Revision asked = *parsed;
  const Filter filter = FilterOf(options.ns, options.labels, options.fields);
  if (!options.continue_token.empty()) {
    ASSIGN_OR_CO_RETURN(const storage::ContinueToken token, storage::ContinueToken::Decode(options.continue_token));
    const std::string start = filter.prefix + token.start;
    if (token.revision > 0) co_return co_await ListExact(ctx, options, static_cast<Revision>(token.revision), start);
    ASSIGN_OR_CO_RETURN(SnapshotPtr newest, co_await Fresh(ctx, ""));
    SnapshotCursor::Range range;
    range.start = start;
    range.limit = options.limit;
    co_return CursorOver(ctx, std::move(newest), filter, std::move(range));
  }
  // A number with a limit and no match has always meant that very revision, except for one object by its name.
  const bool exact = options.match == VersionMatch::kExact ||
                     (options.match == VersionMatch::kUnset && options.limit > 0 && asked > 0 && filter.one.empty());
  if (exact) co_return co_await ListExact(ctx, options, asked, "");
  ASSIGN_OR_CO_RETURN(SnapshotPtr snapshot, co_await Fresh(ctx, options.resource_version));
  SnapshotCursor::Range range;
  range.limit = options.limit;
  co_return CursorOver(ctx, std::move(snapshot), filter, std::move(range));
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::ListExact(meta::RequestContext ctx, ListOptions options,
                                                                     Revision revision, std::string start) {
  // As new as that at least; older states follow from it.
  ASSIGN_OR_CO_RETURN(const SnapshotPtr newest, co_await Fresh(ctx, std::to_string(revision)));
  SnapshotPtr snapshot = cache_->At(revision);
  if (!snapshot) co_return co_await ListFromEtcd(ctx, options, revision, start);
  SnapshotCursor::Range range;
  range.start = start;
  range.limit = options.limit;
  if (snapshot->revision != revision) {  // nothing of this resource has changed between the two
    auto same = std::make_shared<Snapshot>(*snapshot);
    same->revision = revision;
    snapshot = std::move(same);
  }
  co_return CursorOver(ctx, std::move(snapshot), FilterOf(options.ns, options.labels, options.fields), std::move(range));
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::ListFromEtcd(meta::RequestContext ctx, ListOptions options,
                                                                        Revision revision, std::string start) {
  const Filter filter = FilterOf(options.ns, options.labels, options.fields);
  const std::string list_prefix = prefix_ + filter.prefix;
  std::string from = prefix_ + (!filter.one.empty() ? filter.one : start.empty() ? filter.prefix : start);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = revision;
  std::vector<CachedEntryPtr> entries;
  std::int64_t matched = 0;
  SnapshotCursor::Range range;
  range.start = start;
  range.limit = options.limit;
  for (;;) {
    etcd::RangeOptions page_options;
    if (filter.one.empty()) page_options.range_end = etcd::PrefixEnd(list_prefix);
    page_options.limit = options.limit > 0 ? std::min(options.limit, kPage) : kPage;
    page_options.revision = static_cast<etcd::Revision>(revision);
    page_options.deadline = ctx.Deadline();
    const EtcdTimer timer(observer_.get(), EtcdOperation::kList);
    auto page = co_await shared_->client->Range(from, std::move(page_options));
    timer.Done(page.has_value());
    if (!page) {
      if (page.error().code != etcd::Error::Code::kCompacted) co_return FromEtcd(page.error());
      if (start.empty()) co_return ListExpired();
      storage::ContinueToken token;
      token.revision = -1;
      token.start = start.substr(filter.prefix.size());
      co_return ContinueExpired(token.Encode());
    }
    for (const etcd::KeyValue& kv : page->kvs) {
      if (cache_->Recipe()->Locked(kv.value)) CO_RETURN_IF_ERROR(co_await EntryRecipe::Unlock(cache_->Recipe(), kv.value));
      auto entry = CachedEntry::FromStored(cache_->Recipe(), kv.key.substr(prefix_.size()),
                                           static_cast<Revision>(kv.mod_revision), kv.value);
      if (!entry) {
        ++snapshot->unreadable;
        entries.push_back(CachedEntry::Unreadable(cache_->Recipe(), kv.key.substr(prefix_.size()),
                                                  static_cast<Revision>(kv.mod_revision), entry.error()));
        continue;
      }
      matched += filter.Matches(**entry) ? 1 : 0;
      entries.push_back(*entry);
    }
    range.beyond = page->count - static_cast<std::int64_t>(page->kvs.size());
    if (!page->more || page->kvs.empty() || (options.limit > 0 && matched >= options.limit)) break;
    from = page->kvs.back().key + '\0';
  }
  snapshot->tree = Tree::FromSorted(std::move(entries));
  co_return CursorOver(ctx, std::move(snapshot), filter, std::move(range));
}

}  // namespace apimesh::storage
