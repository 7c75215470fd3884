#include "lib/endpoint/verbs/delete_one.h"

#include "lib/endpoint/input/decode.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/write/held_resources.h"
#include "lib/endpoint/write/write.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using registry::Deletion;
using Store = storage::Store;

/// State that the attempts of one deletion share.
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

/// Returns the options as webhooks receive them: with their type, and with the fields in the order of the API.
json::object ForAdmission(json::object& options) {
  json::object ordered{{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  for (const std::string_view name : {"gracePeriodSeconds", "preconditions", "orphanDependents", "propagationPolicy",
                                      "dryRun", "ignoreStoreReadErrorWithClusterBreakingPotential"}) {
    if (json::value* value = options.if_contains(name)) ordered.emplace(name, std::move(*value));
  }
  return ordered;
}

/// Makes the uid of the object a precondition, unless the client has named one. An object whose deletion is held back
/// is only marked, and its contents are deleted later, so that an object that has replaced it must not be marked
/// instead.
void RequireUid(DeleteState& state, const meta::Object& seen) {
  if (state.options.uid) return;
  state.options.uid = std::string(seen.Uid());
  json::object preconditions{{"uid", *state.options.uid}};
  if (state.options.resource_version) preconditions["resourceVersion"] = *state.options.resource_version;
  json::object options = *state.document;
  options["preconditions"] = std::move(preconditions);
  state.document = std::make_shared<const json::object>(ForAdmission(options));
}

/// Runs before every write of a deletion.
Task<meta::Result<>> Admit(StatePtr state, const meta::Object& current) {
  const ResourceRequest& request = *state->request;
  CO_RETURN_IF_ERROR(request.CheckWanted());
  admission::Attributes attributes = AttributesOf(request, admission::Operation::kDelete, nullptr, &current,
                                                  state->document.get(), state->options.dry_run);
  attributes.name = state->name;
  attributes.deletes_collection = request.Name().empty();
  if (!state->ns.empty()) attributes.ns = state->ns;
  CO_RETURN_IF_ERROR(co_await request.served->admission->Mutate(request.ctx, attributes));
  co_return co_await request.served->admission->Validate(request.ctx, attributes);
}

/// Marks the object, or decides that it can be deleted immediately.
Task<meta::Result<std::optional<Store::Update>>> Mark(StatePtr state, const meta::Object* current) {
  const ResourceRequest& request = *state->request;
  CO_RETURN_IF_ERROR(co_await Admit(state, *current));
  meta::Object object = *current;
  ASSIGN_OR_CO_RETURN(state->decision, registry::BeforeDelete(request.Resource(), request.Strategy(), object,
                                                              state->options, request.env->sources.clock->Now()));
  state->marked = object;
  if (state->decision == Deletion::kNow || state->decision == Deletion::kPending)
    co_return std::optional<Store::Update>();
  CO_RETURN_IF_ERROR(NormaliseForStore(request, object));
  if (state->shrink) object.EraseMeta("managedFields");
  state->marked = object;
  co_return std::optional<Store::Update>(Store::Update{std::move(object), request.Resource().ttl});
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
    errors.push_back(meta::Invalid("ignoreStoreReadErrorWithClusterBreakingPotential", "true",
                                   "is not allowed with DELETECOLLECTION, try again after removing the option"));
    return meta::Invalid(meta::GroupKind{"meta.k8s.io", "DeleteOptions"}, "", errors);
  }
  if (!parsed.options.orphan_dependents && !parsed.options.propagation_policy) {
    const std::string_view warning = request.Strategy().DefaultPropagationWarning();
    if (!warning.empty()) request.ctx.Warn(std::string(warning));
  }
  parsed.document = std::make_shared<const json::object>(ForAdmission(document));
  return parsed;
}

Task<meta::Result<Deleted>> DeleteOne(RequestPtr request, std::string ns, std::string name,
                                      registry::DeleteOptions options, std::shared_ptr<const json::object> document) {
  ASSIGN_OR_CO_RETURN(const storage::Key key,
                      storage::KeyFor(request->Resource().scope == registry::Scope::kNamespaced, ns, name));
  const auto state = std::make_shared<DeleteState>();
  state->request = request;
  state->ns = std::move(ns);
  state->name = std::move(name);
  state->options = options;
  state->document = std::move(document);
  const storage::StorePtr& store = request->served->store;

  // The object is read first, because most have neither a grace period nor a finalizer and are deleted by one write.
  const storage::GetOptions newest;
  ASSIGN_OR_CO_RETURN(const storage::EntryPtr entry, co_await store->Get(request->ctx, key, newest));
  ASSIGN_OR_CO_RETURN(const meta::Object seen, ParseEntry(*entry));
  if (!request->Name().empty() && request->Strategy().HoldsBackDeletion(seen)) RequireUid(*state, seen);
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
    CO_RETURN_IF_ERROR(NormaliseForStore(*request, trial));
    deleted.object = std::move(trial);
    co_return deleted;
  }
  storage::Preconditions preconditions{state->options.uid, options.resource_version};
  if (state->decision != Deletion::kNow) {
    const Store::UpdateFn mark = [state](const meta::Object* current) { return Mark(state, current); };
    meta::Result<Store::UpdateResult> written =
        co_await store->GuaranteedUpdate(request->ctx, key, preconditions, false, mark);
    if (!written && written.error().Code() == 413) {
      // The object is as large as the store allows, so the mark does not fit. Such an object must still be deletable.
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
  if (!last && !(last.error().Is(meta::Reason::kNotFound) && deleted.entry)) co_return last.error();
  if (last) {
    deleted.entry = *last;
    co_await RunAfterDelete(*request, **last);
  }
  deleted.gone = true;
  deleted.object = seen;
  co_return deleted;
}

}  // namespace apimesh::endpoint
