#include <fmt/format.h>

#include "lib/meta/request/carrier.h"
#include "lib/storage/continue_token.h"
#include "lib/storage/etcd_store/errors.h"
#include "lib/storage/etcd_store/etcd_store.h"
#include "lib/tracing/step.h"

namespace apimesh::storage {
namespace {

constexpr std::int64_t kPage = 1000;
constexpr std::size_t kNamed = 5;

/// Adds a warning that names the unreadable objects, so that an administrator can restore or delete them.
void WarnAboutUnreadable(const meta::RequestContext& ctx, const Tree& tree, const std::string& prefix) {
  std::size_t count = 0;
  std::vector<std::string_view> named;
  tree.Walk(prefix, [&](const CachedEntryPtr& entry) {
    if (!std::string_view(entry->KeyText()).starts_with(prefix)) return false;
    if (entry->Error() && ++count <= kNamed) named.push_back(entry->KeyText());
    return true;
  });
  if (count == 0) return;
  ctx.Warn(fmt::format("{} stored object(s) cannot be read and are missing from this list: {}{}", count,
                       fmt::join(named, ", "), count > kNamed ? ", ..." : ""));
}

}  // namespace

std::unique_ptr<ListCursor> EtcdStore::CursorOver(const meta::RequestContext& ctx, SnapshotPtr snapshot, Filter filter,
                                                  SnapshotCursor::Range range) {
  if (snapshot->unreadable > 0) WarnAboutUnreadable(ctx, snapshot->tree, filter.prefix);
  const WatchCache::Candidates candidates = cache_->FindCandidates(*snapshot, filter);
  ++(candidates.tree ? indexed_lists_ : lists_);
  return std::make_unique<SnapshotCursor>(std::move(snapshot), std::move(filter), std::move(range), candidates);
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::List(meta::RequestContext ctx, ListOptions options) {
  const tracing::Step step(SpanOfMany(ctx, "cacher.GetList"));
  if (step) ctx = ctx.Within(step.GetSpan());
  const bool any = options.resource_version == "0";
  if (any) options.limit = 0;  // kube-apiserver returns its complete cache for "0"
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
    ASSIGN_OR_CO_RETURN(SnapshotPtr newest, co_await SnapshotNotOlderThan(ctx, ""));
    if (!newest) co_return co_await ListNewestFromEtcd(ctx, options, start);
    SnapshotCursor::Range range;
    range.start = start;
    range.limit = options.limit;
    co_return CursorOver(ctx, std::move(newest), filter, std::move(range));
  }
  // A resourceVersion with a limit and without resourceVersionMatch means exactly that revision, except for a list of
  // one object by its name.
  const bool exact = options.match == VersionMatch::kExact ||
                     (options.match == VersionMatch::kUnset && options.limit > 0 && asked > 0 && filter.one.empty());
  if (exact) co_return co_await ListExact(ctx, options, asked, "");
  ASSIGN_OR_CO_RETURN(SnapshotPtr snapshot, co_await SnapshotNotOlderThan(ctx, options.resource_version));
  if (!snapshot) co_return co_await ListNewestFromEtcd(ctx, options, "");
  step.Event("Ready");
  SnapshotCursor::Range range;
  range.limit = options.limit;
  co_return CursorOver(ctx, std::move(snapshot), filter, std::move(range));
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::ListExact(meta::RequestContext ctx, ListOptions options,
                                                                     Revision revision, std::string start) {
  // The snapshot is at least as new as `revision`; older states are derived from it.
  ASSIGN_OR_CO_RETURN(const SnapshotPtr newest, co_await SnapshotNotOlderThan(ctx, std::to_string(revision)));
  SnapshotPtr snapshot = newest ? cache_->At(revision) : nullptr;
  if (!snapshot) co_return co_await ListFromEtcd(ctx, options, revision, start);
  SnapshotCursor::Range range;
  range.start = start;
  range.limit = options.limit;
  if (snapshot->revision != revision) {  // no object of this resource has changed between the two revisions
    auto same = std::make_shared<Snapshot>(*snapshot);
    same->revision = revision;
    snapshot = std::move(same);
  }
  co_return CursorOver(ctx, std::move(snapshot), FilterOf(options.ns, options.labels, options.fields),
                       std::move(range));
}

Task<meta::Result<std::unique_ptr<ListCursor>>> EtcdStore::ListNewestFromEtcd(meta::RequestContext ctx,
                                                                              ListOptions options, std::string start) {
  const auto newest = co_await shared_->read_index->Newest(ctx.Deadline());
  if (!newest) co_return FromEtcd(newest.error());
  co_return co_await ListFromEtcd(ctx, std::move(options), static_cast<Revision>(*newest), std::move(start));
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
    page_options.trace = meta::CarrierOf(ctx);
    const EtcdTimer timer(observer_.get(), EtcdOperation::kList, shared_->options.clock);
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
    std::vector<StoredValue> values;
    for (etcd::KeyValue& kv : page->kvs) {
      if (cache_->Recipe()->NeedsKeyFetch(kv.value)) {
        CO_RETURN_IF_ERROR(co_await EntryRecipe::FetchKey(cache_->Recipe(), kv.value));
      }
      values.push_back({kv.key.substr(prefix_.size()), static_cast<Revision>(kv.mod_revision), std::move(kv.value)});
    }
    ASSIGN_OR_CO_RETURN(std::vector<CachedEntryPtr> some, co_await ReadAll(std::move(values)));
    for (CachedEntryPtr& entry : some) {
      if (entry->Error()) {
        ++snapshot->unreadable;
      } else {
        matched += filter.Matches(*entry) ? 1 : 0;
      }
      entries.push_back(std::move(entry));
    }
    range.beyond = page->count - static_cast<std::int64_t>(page->kvs.size());
    if (!page->more || page->kvs.empty() || (options.limit > 0 && matched >= options.limit)) break;
    from = page->kvs.back().key + '\0';
  }
  snapshot->tree = Tree::FromSorted(std::move(entries));
  co_return CursorOver(ctx, std::move(snapshot), filter, std::move(range));
}

}  // namespace apimesh::storage
