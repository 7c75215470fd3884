#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/request/carrier.h"
#include "lib/storage/etcd_store/errors.h"
#include "lib/storage/etcd_store/etcd_store.h"
#include "lib/tracing/step.h"

namespace apimesh::storage {
namespace {

constexpr auto kWriteTimeout = std::chrono::seconds(34);

SteadyTime WriteDeadline(const meta::RequestContext& ctx, const Clock& clock) {
  return std::min(ctx.Deadline(), clock.Steady() + kWriteTimeout);
}

meta::Result<meta::Object> ParseEntry(const CachedEntry& entry) {
  if (entry.Error()) return *entry.Error();
  ASSIGN_OR_RETURN(meta::json::value document, codec::ParseJson(entry.Json().View(), meta::NewArena()));
  return meta::Object(std::move(document.get_object()));
}

/// Returns the stored JSON: the object without its resourceVersion, which is the revision of the write.
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

Task<meta::Result<>> EtcdStore::ConvertToStored(Outgoing& object) {
  if (!Config().conversion || object.stored) co_return meta::Result<>();
  if (!Config().conversion->write) {
    object.stored = object.json;
    co_return meta::Result<>();
  }
  ASSIGN_OR_CO_RETURN(object.stored, co_await Config().conversion->write(object.json));
  co_return meta::Result<>();
}

Task<meta::Result<>> EtcdStore::ConvertToRead(Outgoing& object) {
  if (!Config().conversion || !Config().conversion->write) co_return meta::Result<>();
  std::vector<std::string> one;
  one.push_back(*object.stored);
  ASSIGN_OR_CO_RETURN(std::vector<std::string> seen, co_await Config().conversion->read(std::move(one)));
  object.json = std::move(seen.front());
  co_return meta::Result<>();
}

Task<meta::Result<meta::Object>> EtcdStore::AsRead(meta::Object object) {
  if (!Config().conversion || !Config().conversion->write) co_return object;
  Outgoing outgoing{codec::WriteJson(object.Root())};
  CO_RETURN_IF_ERROR(co_await ConvertToStored(outgoing));
  CO_RETURN_IF_ERROR(co_await ConvertToRead(outgoing));
  ASSIGN_OR_CO_RETURN(meta::json::value document, codec::ParseJson(outgoing.json, meta::NewArena()));
  co_return meta::Object(std::move(document.get_object()));
}

meta::Result<CachedEntryPtr> EtcdStore::Written(const Key& key, Revision revision, const Outgoing& object) const {
  if (object.stored)
    return CachedEntry::FromConverted(cache_->Recipe(), key.text, revision, object.json, *object.stored);
  return CachedEntry::FromJson(cache_->Recipe(), key.text, revision, object.json);
}

Task<meta::Result<EtcdStore::Attempt>> EtcdStore::Put(meta::RequestContext ctx, Key key, Revision expected,
                                                      Outgoing object, std::chrono::seconds ttl, SteadyTime deadline) {
  etcd::CompareAndSwap swap;
  swap.key = EtcdKey(key);
  swap.expected_mod_revision = static_cast<etcd::Revision>(expected);
  swap.deadline = deadline;
  swap.trace = meta::CarrierOf(ctx);
  if (ttl.count() > 0) {
    auto lease = co_await shared_->leases.Lease(*shared_->client, ttl, deadline);
    if (!lease) co_return FromEtcd(lease.error());
    swap.lease = *lease;
  }
  CO_RETURN_IF_ERROR(co_await ConvertToStored(object));
  // This is converted before the write, so that an error means that nothing was written.
  CO_RETURN_IF_ERROR(co_await ConvertToRead(object));
  if (object.stored) {
    swap.value = *object.stored;
  } else if (Config().to_stored) {
    ASSIGN_OR_CO_RETURN(swap.value, Config().to_stored(object.json));
  } else {
    swap.value = object.json;
  }
  if (cache_->Recipe()->encryption) {
    const encryption::TransformerPtr transformer = cache_->Recipe()->Transformer();
    const encryption::Result<> prepared = co_await transformer->PrepareSeal();
    if (!prepared) co_return meta::InternalError(prepared.error().message);
    auto sealed = transformer->Seal(swap.value, swap.key);
    if (!sealed) co_return meta::InternalError(sealed.error().message);
    swap.value = std::move(*sealed);
  }
  tracing::Event(ctx.Span(), "TransformToStorage succeeded");
  const std::string sealed = swap.value;
  const EtcdTimer timer(observer_.get(), expected == 0 ? EtcdOperation::kCreate : EtcdOperation::kUpdate,
                        shared_->options.clock);
  auto swapped = co_await shared_->client->Swap(std::move(swap));
  timer.Done(swapped.has_value());
  tracing::Event(ctx.Span(),
                 swapped ? (expected == 0 ? "Txn call succeeded" : "Txn call completed") : "Txn call failed");
  Attempt attempt;
  if (!swapped) {
    if (swapped.error().code != etcd::Error::Code::kAmbiguous) co_return FromEtcd(swapped.error());
    co_return co_await ReadBack(ctx, key, sealed, std::move(object), deadline);
  }
  if (swapped->swapped) {
    auto entry = Written(key, static_cast<Revision>(swapped->revision), object);
    if (!entry) {
      log::Error("{} was written, but cannot be read: {}", EtcdKey(key), entry.error().Message());
      co_return OutcomeUnknown();  // no other error says that the object may exist
    }
    attempt.entry = std::move(*entry);
    cache_->RecordOwnWrite(attempt.entry);
  } else if (!swapped->current.empty()) {
    ASSIGN_OR_CO_RETURN(attempt.current, co_await Read(key, std::move(swapped->current[0])));
  }
  co_return attempt;
}

// The outcome of a write is unknown (kAmbiguous) if the connection was lost after the request had been sent. etcd may
// then have applied the request, may apply it later, or may never receive it.
//
// The write is not sent again. A second copy compares with the same mod revision, so it fails if the first copy was
// applied, and this process would report "already exists" or run `update` again on top of its own result. Increments
// would be counted twice.
//
// Instead, the key is read once, by a linearizable read. If etcd has exactly the bytes that were sent, the object that
// the client asked for is stored, and the response carries the mod revision of that value. If another client has
// written the same bytes, the result is the same for the client. Any other state proves nothing: the request may still
// be on its way while the key has its old mod revision, and a newer value may have replaced ours. The client then
// receives 504 (OutcomeUnknown), the only error after which the object may have been written, and has to read the
// object before it tries again.
Task<meta::Result<EtcdStore::Attempt>> EtcdStore::ReadBack(meta::RequestContext ctx, Key key, std::string sealed,
                                                           Outgoing object, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.deadline = deadline;
  options.trace = meta::CarrierOf(ctx);
  auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
  if (!range || range->kvs.empty() || range->kvs[0].value != sealed) co_return OutcomeUnknown();
  Attempt attempt;
  const auto revision = static_cast<Revision>(range->kvs[0].mod_revision);
  auto entry = Written(key, revision, object);
  if (!entry) co_return OutcomeUnknown();
  attempt.entry = std::move(*entry);
  co_return attempt;
}

Task<meta::Result<EntryPtr>> EtcdStore::Create(meta::RequestContext ctx, Key key, meta::Object object,
                                               std::chrono::seconds ttl) {
  const tracing::Step step(SpanOf(ctx, "Create etcd3", key, &object));
  if (step) ctx = ctx.Within(step.GetSpan());
  step.Event("About to Encode");
  Outgoing outgoing{JsonToStore(std::move(object))};
  if (step) step->AddEvent("Encode succeeded", {{"len", static_cast<std::int64_t>(outgoing.json.size())}});
  const SteadyTime deadline = WriteDeadline(ctx, shared_->options.clock);
  ASSIGN_OR_CO_RETURN(Attempt attempt, co_await Put(ctx, key, 0, std::move(outgoing), ttl, deadline));
  if (!attempt.entry) co_return meta::AlreadyExists(Config().resource, NameOf(key));
  co_return EntryPtr(attempt.entry);
}

Task<meta::Result<Store::UpdateResult>> EtcdStore::GuaranteedUpdate(meta::RequestContext ctx, Key key,
                                                                    Preconditions preconditions, bool create_if_missing,
                                                                    UpdateFn update) {
  const tracing::Step step(SpanOf(ctx, "GuaranteedUpdate etcd3", key, nullptr));
  if (step) ctx = ctx.Within(step.GetSpan());
  const SteadyTime deadline = WriteDeadline(ctx, shared_->options.clock);
  CachedEntryPtr current = cache_->Newest(key.text);
  bool confirmed = false;  // `current` was read from etcd during this call, not only from the cache
  if (!current) {
    ASSIGN_OR_CO_RETURN(current, co_await ReadFromEtcd(ctx, key, deadline));
    confirmed = true;
  }
  // The cached object may be old, which is harmless for a write: the compare-and-swap fails, and etcd returns the
  // current object. It is not harmless for a result without a write. A precondition that fails, an error of `update` or
  // an unchanged object would then be a statement about the past, and the client would, for example, get a Conflict
  // although it sent the resourceVersion of its own last write. So such a result counts only if `current` was read from
  // etcd during this call (`confirmed`). Otherwise etcd is read once. If its mod revision is that of `current`, the
  // object is the same and the result stands; if not, everything is computed again from the object that was read.
  //
  // The loop ends: an unconfirmed result is followed by a confirmed one, and each further round means that another
  // client has written the key in the meantime, until the deadline.
  for (;;) {
    std::optional<meta::ApiError> refusal;
    std::optional<Update> wanted;
    if (!current) {
      if (!create_if_missing) co_return meta::NotFound(Config().resource, NameOf(key));
      // A request with a uid is for an existing object, so no new object is created. An object that is not in the cache
      // was read from etcd, so the result is confirmed.
      if (preconditions.uid) {
        const std::string why = fmt::format("UID in precondition: {}, UID in object meta: ", *preconditions.uid);
        co_return PreconditionFailed(Config(), NameOf(key), EtcdKey(key), why);
      }
    }
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
      step.Event("initial value restored");
      auto outcome = co_await update(current ? &document : nullptr);
      if (!outcome) {
        refusal = outcome.error();
      } else {
        wanted = std::move(*outcome);
      }
    }
    Outgoing outgoing;
    bool unchanged = !refusal && !wanted;
    if (wanted) {
      if (step) step->Set("type", std::string(wanted->object.Kind()));
      step.Event("About to Encode");
      outgoing.json = JsonToStore(std::move(wanted->object));
      if (step) step->AddEvent("Encode succeeded", {{"len", static_cast<std::int64_t>(outgoing.json.size())}});
      CO_RETURN_IF_ERROR(co_await ConvertToStored(outgoing));
      if (current && outgoing.stored) {
        unchanged = current->IsStoredAs(*outgoing.stored);
      } else if (current) {
        ASSIGN_OR_CO_RETURN(const CachedEntryPtr same,
                            CachedEntry::FromJson(cache_->Recipe(), key.text, current->ModRevision(), outgoing.json));
        unchanged = same->Json().View() == current->Json().View();
      }
    }
    if (refusal || unchanged) {
      if (!confirmed) {
        ASSIGN_OR_CO_RETURN(CachedEntryPtr live, co_await ReadFromEtcd(ctx, key, deadline));
        confirmed = true;
        const bool stale = !live || live->ModRevision() != current->ModRevision();
        current = std::move(live);
        if (stale) continue;
      }
      if (refusal) co_return *refusal;
      // A value that is encrypted with an old key, or not in the storage version, is rewritten even if the object has
      // not changed.
      if (!wanted || !current->Stale()) co_return UpdateResult{current, false};
    }
    const Revision expected = current ? current->ModRevision() : 0;
    ASSIGN_OR_CO_RETURN(Attempt attempt, co_await Put(ctx, key, expected, std::move(outgoing), wanted->ttl, deadline));
    if (attempt.entry) co_return UpdateResult{attempt.entry, expected == 0};
    current = std::move(attempt.current);
    confirmed = true;
    if (shared_->options.clock.Steady() >= deadline) co_return NotWrittenInTime();
  }
}

Task<meta::Result<EntryPtr>> EtcdStore::Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                               ValidateFn validate) {
  const SteadyTime deadline = WriteDeadline(ctx, shared_->options.clock);
  CachedEntryPtr current = cache_->Newest(key.text);
  bool confirmed = false;
  if (!current) {
    ASSIGN_OR_CO_RETURN(current, co_await ReadFromEtcd(ctx, key, deadline));
    confirmed = true;
  }
  // As in GuaranteedUpdate(), a refusal counts only if it is based on an object that was read from etcd during this
  // call.
  for (;;) {
    if (!current) co_return meta::NotFound(Config().resource, NameOf(key));
    std::optional<meta::ApiError> refusal;
    if (current->Error()) refusal = *current->Error();  // `validate` cannot check it; DeleteUnreadable() can delete it
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
      ASSIGN_OR_CO_RETURN(CachedEntryPtr live, co_await ReadFromEtcd(ctx, key, deadline));
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
    swap.trace = meta::CarrierOf(ctx);
    const EtcdTimer timer(observer_.get(), EtcdOperation::kDelete, shared_->options.clock);
    auto swapped = co_await shared_->client->Swap(std::move(swap));
    timer.Done(swapped.has_value());
    if (!swapped) {
      if (swapped.error().code != etcd::Error::Code::kAmbiguous) co_return FromEtcd(swapped.error());
      etcd::RangeOptions options;
      options.deadline = deadline;
      options.trace = meta::CarrierOf(ctx);
      auto range = co_await shared_->client->Range(EtcdKey(key), std::move(options));
      if (!range || !range->kvs.empty()) co_return OutcomeUnknown();
      // The key is gone, deleted by this call or by another client.
      co_return EntryPtr(current->At(static_cast<Revision>(range->revision)));
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
  const SteadyTime deadline = WriteDeadline(ctx, shared_->options.clock);
  ASSIGN_OR_CO_RETURN(const CachedEntryPtr current, co_await ReadFromEtcd(ctx, key, deadline));
  if (!current) co_return meta::NotFound(Config().resource, NameOf(key));
  if (!current->Error()) co_return ObjectIsReadable(Config().resource, NameOf(key));
  log::Warning("{} cannot be read; it is deleted without checks, as the client requested", EtcdKey(key));
  etcd::CompareAndSwap swap;
  swap.key = EtcdKey(key);
  swap.expected_mod_revision = static_cast<etcd::Revision>(current->ModRevision());
  swap.remove = true;
  swap.deadline = deadline;
  swap.trace = meta::CarrierOf(ctx);
  const auto swapped = co_await shared_->client->Swap(std::move(swap));
  if (!swapped) co_return FromEtcd(swapped.error());
  if (!swapped->swapped)
    co_return meta::Conflict(Config().resource, NameOf(key), "the object was changed meanwhile; please try again");
  co_return meta::Result<>();
}

}  // namespace apimesh::storage
