#include "lib/endpoint/delete_one.h"

#include "lib/codec/codec.h"
#include "lib/endpoint/decode.h"
#include "lib/endpoint/options.h"
#include "lib/endpoint/write.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using registry::Deletion;
using Store = storage::Store;

/// Shared by the tries of one deletion.
struct DeleteState {
  RequestPtr request;
  std::string ns;
  std::string name;
  registry::DeleteOptions options;
  std::shared_ptr<const json::object> document;
  Deletion decision = Deletion::kNow;
  meta::Object marked;
  bool shrink = false;  // the marked object was too large for the store
};
using StatePtr = std::shared_ptr<DeleteState>;

Task<meta::Result<>> Admit(StatePtr state, const meta::Object& current) {
  const ResourceRequest& request = *state->request;
  admission::Attributes attributes = AttributesOf(request, admission::Operation::kDelete, nullptr, &current,
                                                  state->document.get(), state->options.dry_run);
  attributes.name = state->name;
  if (!state->ns.empty()) attributes.ns = state->ns;
  CO_RETURN_IF_ERROR(co_await request.served->admission->Mutate(request.ctx, attributes));
  co_return co_await request.served->admission->Validate(request.ctx, attributes);
}

/// Marks the object, or decides that it can go at once.
Task<meta::Result<std::optional<Store::Update>>> Mark(StatePtr state, const meta::Object* current) {
  const ResourceRequest& request = *state->request;
  CO_RETURN_IF_ERROR(co_await Admit(state, *current));
  meta::Object object = *current;
  ASSIGN_OR_CO_RETURN(state->decision, registry::BeforeDelete(request.Resource(), request.Strategy(), object, state->options,
                                                              request.env->sources.clock->Now()));
  state->marked = object;
  if (state->decision == Deletion::kNow || state->decision == Deletion::kPending) co_return std::optional<Store::Update>();
  CO_RETURN_IF_ERROR(Settle(request, object));
  if (state->shrink) object.EraseMeta("managedFields");
  state->marked = object;
  co_return std::optional<Store::Update>(Store::Update{std::move(object), request.Resource().ttl});
}

meta::Result<meta::Object> Parse(const storage::EntryPtr& entry) {
  ASSIGN_OR_RETURN(const json::value value, codec::ParseJson(entry->Json().View(), meta::NewArena()));
  return meta::Object(value.get_object());
}

}  // namespace

meta::Result<ParsedDeleteOptions> ParseDeleteOptions(const ResourceRequest& request) {
  ParsedDeleteOptions parsed;
  json::object document;
  if (!request.http.body.empty()) {
    ASSIGN_OR_RETURN(document, DecodeDeleteOptions(request));
    ASSIGN_OR_RETURN(parsed.options, ReadDeleteOptions(document));
  } else {
    ASSIGN_OR_RETURN(parsed.options, ParseDeleteQuery(request.query));
    if (parsed.options.grace_period_seconds) document["gracePeriodSeconds"] = *parsed.options.grace_period_seconds;
    if (parsed.options.orphan_dependents) document["orphanDependents"] = *parsed.options.orphan_dependents;
    if (parsed.options.propagation_policy) document["propagationPolicy"] = *parsed.options.propagation_policy;
    if (parsed.options.dry_run) document["dryRun"] = json::array{"All"};
    json::object preconditions;
    if (parsed.options.uid) preconditions["uid"] = *parsed.options.uid;
    if (parsed.options.resource_version) preconditions["resourceVersion"] = *parsed.options.resource_version;
    if (!preconditions.empty()) document["preconditions"] = std::move(preconditions);
  }
  if (parsed.options.ignore_read_error && request.Name().empty()) {
    meta::FieldErrors errors;
    errors.push_back(meta::Invalid("ignoreStoreReadErrorWithClusterBreakingPotential", "true", "is not allowed with DELETECOLLECTION, try again after removing the option"));
    return meta::Invalid(meta::GroupKind{"meta.k8s.io", "DeleteOptions"}, "", errors);
  }
  document["kind"] = "DeleteOptions";
  document["apiVersion"] = "meta.k8s.io/v1";
  parsed.document = std::make_shared<const json::object>(std::move(document));
  return parsed;
}

Task<meta::Result<Deleted>> DeleteOne(RequestPtr request, std::string ns, std::string name, registry::DeleteOptions options,
                                      std::shared_ptr<const json::object> document) {
  ASSIGN_OR_CO_RETURN(const storage::Key key,
                      storage::KeyFor(request->Resource().scope == registry::Scope::kNamespaced, ns, name));
  const auto state = std::make_shared<DeleteState>();
  state->request = request;
  state->ns = std::move(ns);
  state->name = std::move(name);
  state->options = options;
  state->document = std::move(document);
  const storage::StorePtr& store = request->served->store;

  // A look first: most objects are neither graceful nor held by a finalizer, and go with one write.
  const storage::GetOptions newest;
  ASSIGN_OR_CO_RETURN(const storage::EntryPtr entry, co_await store->Get(request->ctx, key, newest));
  ASSIGN_OR_CO_RETURN(const meta::Object seen, Parse(entry));
  meta::Object trial = seen;
  ASSIGN_OR_CO_RETURN(state->decision, registry::BeforeDelete(request->Resource(), request->Strategy(), trial, options,
                                                              request->env->sources.clock->Now()));
  Deleted deleted;
  if (state->decision == Deletion::kPending) {
    deleted.pending = true;
    deleted.entry = entry;
    deleted.object = seen;
    co_return deleted;
  }
  if (options.dry_run) {
    CO_RETURN_IF_ERROR(co_await Admit(state, seen));
    deleted.gone = state->decision != Deletion::kMark;
    CO_RETURN_IF_ERROR(Settle(*request, trial));
    deleted.object = std::move(trial);
    co_return deleted;
  }
  storage::Preconditions preconditions{options.uid, options.resource_version};
  if (state->decision != Deletion::kNow) {
    const Store::UpdateFn mark = [state](const meta::Object* current) { return Mark(state, current); };
    meta::Result<Store::UpdateResult> written = co_await store->GuaranteedUpdate(request->ctx, key, preconditions, false, mark);
    if (!written && written.error().Code() == 413) {
      // The mark does not fit beside an object as large as the store takes. Deletion must stay possible.
      state->shrink = true;
      written = co_await store->GuaranteedUpdate(request->ctx, key, preconditions, false, mark);
    }
    if (!written) co_return written.error();
    const Store::UpdateResult& result = *written;
    deleted.entry = result.entry;
    deleted.object = state->marked;
    deleted.pending = state->decision == Deletion::kPending;
    if (state->decision == Deletion::kMark || state->decision == Deletion::kPending) co_return deleted;
    if (preconditions.resource_version) preconditions.resource_version = std::to_string(result.entry->ModRevision());
  }
  const Store::ValidateFn validate = [state](const meta::Object& current) { return Admit(state, current); };
  const meta::Result<storage::EntryPtr> last = co_await store->Delete(request->ctx, key, preconditions, validate);
  if (!last && !(last.error().Is("NotFound") && deleted.entry)) co_return last.error();
  if (last) deleted.entry = *last;
  deleted.gone = true;
  deleted.object = seen;
  if (registry::Hooks* hooks = request->Resource().hooks.get()) co_await hooks->AfterDelete(request->ctx, seen);
  co_return deleted;
}

}  // namespace apimesh::endpoint
