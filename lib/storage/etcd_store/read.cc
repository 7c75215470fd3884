// Reads of values from etcd.
#include "lib/meta/request/carrier.h"
#include "lib/storage/etcd_store/errors.h"
#include "lib/storage/etcd_store/etcd_store.h"

namespace apimesh::storage {

Task<meta::Result<CachedEntryPtr>> EtcdStore::ReadFromEtcd(meta::RequestContext ctx, Key key, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.deadline = deadline;
  options.trace = meta::CarrierOf(ctx);
  const EtcdTimer timer(observer_.get(), EtcdOperation::kGet, shared_->options.clock);
  auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
  timer.Done(range.has_value());
  if (!range) co_return FromEtcd(range.error());
  if (range->kvs.empty()) co_return CachedEntryPtr();
  co_return co_await Read(key, std::move(range->kvs[0]));
}

Task<meta::Result<CachedEntryPtr>> EtcdStore::Read(Key key, etcd::KeyValue kv) {
  if (cache_->Recipe()->NeedsKeyFetch(kv.value)) {
    CO_RETURN_IF_ERROR(co_await EntryRecipe::FetchKey(cache_->Recipe(), kv.value));
  }
  const auto revision = static_cast<Revision>(kv.mod_revision);
  std::vector<StoredValue> one;
  one.push_back({key.text, revision, std::move(kv.value)});
  const meta::Result<std::vector<CachedEntryPtr>> entries = co_await ReadAll(std::move(one));
  if (!entries) co_return CachedEntry::Unreadable(cache_->Recipe(), key.text, revision, entries.error());
  co_return entries->front();
}

Task<meta::Result<std::vector<CachedEntryPtr>>> EtcdStore::ReadAll(std::vector<StoredValue> values) {
  const std::shared_ptr<const EntryRecipe>& recipe = cache_->Recipe();
  std::vector<CachedEntryPtr> entries;
  entries.reserve(values.size());
  if (Config().conversion) {
    // Objects that the cache holds are not converted again, so they can be read while the conversion fails.
    std::vector<StoredValue> unknown;
    for (StoredValue& value : values) {
      entries.push_back(cache_->Known(value.key, value.revision));
      if (!entries.back()) unknown.push_back(std::move(value));
    }
    ASSIGN_OR_CO_RETURN(std::vector<CachedEntryPtr> converted,
                        co_await CachedEntry::Convert(recipe, std::move(unknown)));
    for (std::size_t i = 0, next = 0; i < entries.size(); ++i) {
      if (!entries[i]) entries[i] = std::move(converted[next++]);
    }
    co_return entries;
  }
  for (StoredValue& value : values) {
    auto entry = CachedEntry::FromStored(recipe, value.key, value.revision, value.value);
    entries.push_back(entry ? *entry : CachedEntry::Unreadable(recipe, value.key, value.revision, entry.error()));
  }
  co_return entries;
}

}  // namespace apimesh::storage
