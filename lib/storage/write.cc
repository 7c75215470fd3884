#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/storage/errors.h"
#include "lib/storage/etcd_store.h"

namespace apimesh::storage {
namespace {

constexpr auto kWriteTimeout = std::chrono::seconds(34);

SteadyTime WriteDeadline(const meta::RequestContext& ctx) {
  return std::min(ctx.Deadline(), std::chrono::steady_clock::now() + kWriteTimeout);
}

meta::Result<meta::Object> ParseEntry(const CachedEntry& entry) {
  if (entry.Error()) return *entry.Error();
  ASSIGN_OR_RETURN(meta::json::value document, codec::ParseJson(entry.Json().View(), meta::NewArena()));
  return meta::Object(std::move(document.get_object()));
}

/// What is stored: everything but the resourceVersion, which is the revision of the write.
std::string JsonToStore(meta::Object object) {
  object.EraseMeta("resourceVersion");
  return codec::WriteJson(meta::json::value(std::move(object.Root())));
}

}  // namespace

meta::Result<> EtcdStore::Check(const CachedEntry& entry, const Preconditions& preconditions) const {
  if (!preconditions.uid && !preconditions.resource_version) return {};
  ASSIGN_OR_RETURN(const meta::Object object, ParseEntry(entry));
  const auto differs = [&](const std::optional<std::string>& wanted, std::string_view found) {
    return wanted && *wanted != found;
  };
  std::string why;
  if (differs(preconditions.uid, object.Uid())) {
    why = fmt::format("UID in precondition: {}, UID in object meta: {}", *preconditions.uid, object.Uid());
  } else if (differs(preconditions.resource_version, object.ResourceVersion())) {
    why = fmt::format("ResourceVersion in precondition: {}, ResourceVersion in object meta: {}",
                      *preconditions.resource_version, object.ResourceVersion());
  } else {
    return {};
  }
  return PreconditionFailed(Config(), NameOf(entry.GetKey()), EtcdKey(entry.GetKey()), why);
}

Task<meta::Result<CachedEntryPtr>> EtcdStore::Live(Key key, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.deadline = deadline;
  const EtcdTimer timer(observer_.get(), EtcdOperation::kGet);
  auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
  timer.Done(range.has_value());
  if (!range) co_return FromEtcd(range.error());
  if (range->kvs.empty()) co_return CachedEntryPtr();
  co_return co_await Read(key, std::move(range->kvs[0]));
}

Task<meta::Result<CachedEntryPtr>> EtcdStore::Read(Key key, etcd::KeyValue kv) {
  if (cache_->Recipe()->Locked(kv.value)) CO_RETURN_IF_ERROR(co_await EntryRecipe::Unlock(cache_->Recipe(), kv.value));
  const auto revision = static_cast<Revision>(kv.mod_revision);
  auto entry = CachedEntry::FromStored(cache_->Recipe(), key.text, revision, kv.value);
  if (!entry) co_return CachedEntry::Unreadable(cache_->Recipe(), key.text, revision, entry.error());
  co_return *entry;
}

Task<meta::Result<EtcdStore::Attempt>> EtcdStore::Put(Key key, Revision expected, std::string json,
                                                      std::chrono::seconds ttl, SteadyTime deadline) {
  etcd::CompareAndSwap swap;
  swap.key = EtcdKey(key);
  swap.expected_mod_revision = static_cast<etcd::Revision>(expected);
  swap.deadline = deadline;
  if (ttl.count() > 0) {
    auto lease = co_await shared_->leases.Lease(*shared_->client, ttl, deadline);
    if (!lease) co_return FromEtcd(lease.error());
    swap.lease = *lease;
  }
  if (Config().to_stored) {
    ASSIGN_OR_CO_RETURN(swap.value, Config().to_stored(json));
  } else {
    swap.value = json;
  }
  if (cache_->Recipe()->encryption) {
    const encryption::TransformerPtr transformer = cache_->Recipe()->Transformer();
    const encryption::Result<> prepared = co_await transformer->PrepareSeal();
    if (!prepared) co_return meta::InternalError(prepared.error().message);
    auto sealed = transformer->Seal(swap.value, swap.key);
    if (!sealed) co_return meta::InternalError(sealed.error().message);
    swap.value = std::move(*sealed);
  }
  const std::string stored = swap.value;
  const EtcdTimer timer(observer_.get(), expected == 0 ? EtcdOperation::kCreate : EtcdOperation::kUpdate);
  auto swapped = co_await shared_->client->Swap(std::move(swap));
  timer.Done(swapped.has_value());
  Attempt attempt;
  if (!swapped) {
    if (swapped.error().code != etcd::Error::Code::kAmbiguous) co_return FromEtcd(swapped.error());
    co_return co_await ReadBack(key, stored, deadline);
  }
  if (swapped->swapped) {
    ASSIGN_OR_CO_RETURN(attempt.entry, CachedEntry::FromJson(cache_->Recipe(), key.text,
                                                             static_cast<Revision>(swapped->revision), json));
    cache_->Remember(attempt.entry);
  } else if (!swapped->current.empty()) {
    ASSIGN_OR_CO_RETURN(attempt.current, co_await Read(key, std::move(swapped->current[0])));
  }
  co_return attempt;
}

/// After a write whose outcome is unknown. If etcd has what we wrote, it happened; otherwise it may still happen, so it is
/// neither sent again nor called a failure.
Task<meta::Result<EtcdStore::Attempt>> EtcdStore::ReadBack(Key key, std::string stored, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.deadline = deadline;
  auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
  if (!range || range->kvs.empty() || range->kvs[0].value != stored) co_return OutcomeUnknown();
  Attempt attempt;
  const auto revision = static_cast<Revision>(range->kvs[0].mod_revision);
  ASSIGN_OR_CO_RETURN(attempt.entry, CachedEntry::FromStored(cache_->Recipe(), key.text, revision, stored));
  co_return attempt;
}

Task<meta::Result<EntryPtr>> EtcdStore::Create(meta::RequestContext ctx, Key key, meta::Object object,
                                               std::chrono::seconds ttl) {
  ASSIGN_OR_CO_RETURN(Attempt attempt, co_await Put(key, 0, JsonToStore(std::move(object)), ttl, WriteDeadline(ctx)));
  if (!attempt.entry) co_return meta::AlreadyExists(Config().resource, NameOf(key));
  co_return EntryPtr(attempt.entry);
}

Task<meta::Result<Store::UpdateResult>> EtcdStore::GuaranteedUpdate(meta::RequestContext ctx, Key key,
                                                                    Preconditions preconditions, bool create_if_missing,
                                                                    UpdateFn update) {
  const SteadyTime deadline = WriteDeadline(ctx);
  CachedEntryPtr current = cache_->Newest(key.text);
  bool confirmed = false;  // `current` is what etcd has, not only what the cache has
  if (!current) {
    ASSIGN_OR_CO_RETURN(current, co_await Live(key, deadline));
    confirmed = true;
  }
  for (;;) {
    // What the cache has may be old: a refusal counts only if etcd's own state gives it.
    std::optional<meta::ApiError> refusal;
    std::optional<Update> wanted;
    if (!current && !create_if_missing) co_return meta::NotFound(Config().resource, NameOf(key));
    meta::Object document;
    if (current) {
      if (auto checked = Check(*current, preconditions); !checked) refusal = checked.error();
      if (!refusal) {
        auto parsed = ParseEntry(*current);
        if (parsed) {
          document = std::move(*parsed);
        } else {
          refusal = parsed.error();
        }
      }
    }
    if (!refusal) {
      auto outcome = co_await update(current ? &document : nullptr);
      if (!outcome) {
        refusal = outcome.error();
      } else {
        wanted = std::move(*outcome);
      }
    }
    std::string json;
    bool unchanged = !refusal && !wanted;
    if (wanted) {
      json = JsonToStore(std::move(wanted->object));
      if (current) {
        ASSIGN_OR_CO_RETURN(const CachedEntryPtr same,
                            CachedEntry::FromJson(cache_->Recipe(), key.text, current->ModRevision(), json));
        unchanged = same->Json().View() == current->Json().View();
      }
    }
    if (refusal || unchanged) {
      if (!confirmed) {
        ASSIGN_OR_CO_RETURN(CachedEntryPtr live, co_await Live(key, deadline));
        confirmed = true;
        const bool stale = !live || live->ModRevision() != current->ModRevision();
        current = std::move(live);
        if (stale) continue;
      }
      if (refusal) co_return *refusal;
      // What is encrypted with a key that is being replaced is written again, though it stays the same.
      if (!wanted || !current->Stale()) co_return UpdateResult{current, false};
    }
    const Revision expected = current ? current->ModRevision() : 0;
    ASSIGN_OR_CO_RETURN(Attempt attempt, co_await Put(key, expected, std::move(json), wanted->ttl, deadline));
    if (attempt.entry) co_return UpdateResult{attempt.entry, expected == 0};
    current = std::move(attempt.current);
    confirmed = true;
    if (std::chrono::steady_clock::now() >= deadline) co_return OutcomeUnknown();
  }
}

Task<meta::Result<EntryPtr>> EtcdStore::Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                               ValidateFn validate) {
  const SteadyTime deadline = WriteDeadline(ctx);
  CachedEntryPtr current = cache_->Newest(key.text);
  bool confirmed = false;
  if (!current) {
    ASSIGN_OR_CO_RETURN(current, co_await Live(key, deadline));
    confirmed = true;
  }
  for (;;) {
    if (!current) co_return meta::NotFound(Config().resource, NameOf(key));
    std::optional<meta::ApiError> refusal;
    if (current->Error()) refusal = *current->Error();  // nobody can look at it first; see DeleteUnreadable()
    if (!refusal) {
      if (auto checked = Check(*current, preconditions); !checked) refusal = checked.error();
    }
    if (!refusal && validate) {
      ASSIGN_OR_CO_RETURN(const meta::Object document, ParseEntry(*current));
      auto valid = co_await validate(document);
      if (!valid) refusal = valid.error();
    }
    if (refusal) {
      if (confirmed) co_return *refusal;
      ASSIGN_OR_CO_RETURN(CachedEntryPtr live, co_await Live(key, deadline));
      confirmed = true;
      if (live && live->ModRevision() == current->ModRevision()) co_return *refusal;
      current = std::move(live);
      continue;
    }
    etcd::CompareAndSwap swap;
    swap.key = EtcdKey(key);
    swap.expected_mod_revision = static_cast<etcd::Revision>(current->ModRevision());
    swap.remove = true;
    swap.deadline = deadline;
    const EtcdTimer timer(observer_.get(), EtcdOperation::kDelete);
    auto swapped = co_await shared_->client->Swap(std::move(swap));
    timer.Done(swapped.has_value());
    if (!swapped) {
      if (swapped.error().code != etcd::Error::Code::kAmbiguous) co_return FromEtcd(swapped.error());
      etcd::RangeOptions options;
      options.deadline = deadline;
      auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
      if (!range || !range->kvs.empty()) co_return OutcomeUnknown();
      co_return EntryPtr(current->At(static_cast<Revision>(range->revision)));  // gone, by us or by another
    }
    if (swapped->swapped) co_return EntryPtr(current->At(static_cast<Revision>(swapped->revision)));
    CachedEntryPtr next;
    if (!swapped->current.empty()) {
      ASSIGN_OR_CO_RETURN(next, co_await Read(key, std::move(swapped->current[0])));
    }
    current = std::move(next);
    confirmed = true;
  }
}

Task<meta::Result<>> EtcdStore::DeleteUnreadable(meta::RequestContext ctx, Key key) {
  const SteadyTime deadline = WriteDeadline(ctx);
  ASSIGN_OR_CO_RETURN(const CachedEntryPtr current, co_await Live(key, deadline));
  if (!current) co_return meta::NotFound(Config().resource, NameOf(key));
  if (!current->Error()) co_return ReadableAfterAll(Config().resource, NameOf(key));
  log::Warning("{} can't be read and is deleted unseen, because a client wants it so", EtcdKey(key));
  etcd::CompareAndSwap swap;
  swap.key = EtcdKey(key);
  swap.expected_mod_revision = static_cast<etcd::Revision>(current->ModRevision());
  swap.remove = true;
  swap.deadline = deadline;
  const auto swapped = co_await shared_->client->Swap(std::move(swap));
  if (!swapped) co_return FromEtcd(swapped.error());
  if (!swapped->swapped) co_return meta::Conflict(Config().resource, NameOf(key), "the object was changed meanwhile; please try again");
  co_return meta::Result<>();
}

}  // namespace apimesh::storage
