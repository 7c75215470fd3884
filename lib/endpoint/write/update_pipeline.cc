#include "lib/endpoint/write/update_pipeline.h"

#include <fmt/format.h>

#include "lib/endpoint/input/while_wanted.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/write/converted_views.h"
#include "lib/endpoint/write/creation.h"
#include "lib/endpoint/write/write.h"
#include "lib/registry/before_write.h"
#include "lib/registry/cleanup_context.h"
#include "lib/registry/scale.h"
#include "lib/storage/etcd_store/errors.h"

namespace apimesh::endpoint {
namespace {

using Store = storage::Store;

constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

/// State that the attempts of one update share.
struct UpdateState {
  UpdateState(RequestPtr from, UpdateInput what)
      : request(std::move(from)), input(std::move(what)), held(request, input.options.dry_run) {}

  const RequestPtr request;
  const UpdateInput input;
  HeldResources held;
  // Results of the last attempt.
  std::optional<meta::Object>
      emptied;  // set if the object was being deleted and has lost its last finalizer, so that it is removed
  std::optional<meta::Object> dry_run;
};
using StatePtr = std::shared_ptr<UpdateState>;
using UpdateAnswer = meta::Result<std::optional<Store::Update>>;

/// Checks that the resourceVersion is a number or empty.
meta::Result<> ReadVersion(Write& write) {
  const auto parsed = storage::ParseResourceVersion(write.object.ResourceVersion());
  if (parsed) return {};
  meta::ApiError::Data data = parsed.error().Get();
  data.message.erase(0, data.message.find("strconv."));  // removes the name of a query parameter
  return meta::ApiError(std::move(data));
}

meta::Result<> CheckVersion(Write& write) {
  const ResourceRequest& request = *write.request;
  RETURN_IF_ERROR(ReadVersion(write));
  const std::string_view version = write.object.ResourceVersion();
  if (version.empty() || version == "0") {
    if (!request.Strategy().AllowUnconditionalUpdate()) {
      const meta::GroupResource resource = request.GetGroupResource();
      return meta::Invalid(meta::GroupKind{resource.group, resource.resource}, request.Name(),
                           {meta::Invalid("metadata.resourceVersion", "0", "must be specified for an update")});
    }
    write.object.SetMeta("resourceVersion", write.old->ResourceVersion());
    return {};
  }
  if (version != write.old->ResourceVersion())
    return meta::Conflict(request.GetGroupResource(), request.Name(), kModified);
  return {};
}

meta::Result<> PrepareAndValidate(Write& write) {
  const ResourceRequest& request = *write.request;
  return registry::BeforeUpdate(request.Resource(), request.Strategy(), request.ctx, write.object, *write.old,
                                request.subresource && !request.subresource->scale);
}

constexpr WriteStep kUpdate[] = {
    {.run = &TrackManagedFields}, {.wait = &MutatingAdmission},   {.run = &CheckVersion},
    {.wait = &CheckContent},   // after mutating admission, which may change the object
    {.wait = &TakeResources},  // before validation, which checks the allocated values
    {.run = &PrepareAndValidate}, {.wait = &ValidatingAdmission}, {.run = &Normalise},
};

/// Computes the desired object and its managedFields for a kind whose conversion suspends.
Task<meta::Result<>> ComputeWithConversions(StatePtr state, Write& write) {
  ConvertedViews& views = *state->request->views;
  for (;;) {
    views.Begin();
    meta::Result<meta::Object> desired = state->input.desired(write.old);
    ASSIGN_OR_CO_RETURN(const bool again, co_await views.ConvertMissing());
    if (again) continue;
    if (!desired) co_return desired.error();
    write.object = std::move(*desired);
    break;
  }
  if (!write.old) co_return meta::Result<>();
  const meta::Object desired = write.object;
  for (;;) {
    views.Begin();
    CO_RETURN_IF_ERROR(TrackManagedFields(write));
    const meta::Result<bool> again = co_await views.ConvertMissing();
    // Fields that cannot be compared have no owners, as in kube-apiserver.
    if (!again) write.object.EraseMeta("managedFields");
    if (!again || !*again) break;
    write.object = desired;
  }
  write.tracks_fields = false;
  co_return meta::Result<>();
}

Task<meta::Result<>> RunAttempt(StatePtr state, Write& write) {
  CO_RETURN_IF_ERROR(state->request->CheckWanted());
  if (state->request->views) {
    CO_RETURN_IF_ERROR(co_await ComputeWithConversions(state, write));
  } else {
    const WhileWanted wanted(*state->request);  // the check before the next step discards an incomplete object
    ASSIGN_OR_CO_RETURN(write.object, state->input.desired(write.old));
  }
  if (write.old) co_return co_await RunSteps(kUpdate, write);
  CO_RETURN_IF_ERROR(co_await AdmitCreation(write));
  CO_RETURN_IF_ERROR(ReadVersion(write));
  co_return co_await PrepareCreation(write);
}

Task<UpdateAnswer> UpdateOnce(StatePtr state, const meta::Object* current) {
  const ResourceRequest& request = *state->request;
  state->emptied.reset();
  state->dry_run.reset();
  co_await state->held.Release();  // the previous attempt had a write conflict
  if (!current && !state->input.create_allowed) co_return meta::NotFound(request.GetGroupResource(), request.Name());

  Write write;
  write.request = state->request;
  write.options = &state->input.options;
  write.held = &state->held;
  write.old = current;
  write.tracks_fields = state->input.tracks_fields;
  CO_RETURN_IF_ERROR(co_await RunAttempt(state, write));

  if (state->input.options.dry_run) state->dry_run = write.object;
  if (current && registry::DeletesDuringUpdate(request.Strategy(), write.object, *current)) {
    co_await state->held.Release();  // the new state is not written
    state->emptied = std::move(write.object);
    co_return std::optional<Store::Update>();
  }
  state->held.HandToStore(write.object);
  co_return std::optional<Store::Update>(Store::Update{std::move(write.object), request.Resource().ttl});
}

meta::Result<mesh::Response> Respond(const ResourceRequest& request, int code, const meta::Object& object) {
  if (request.subresource && request.subresource->scale) {
    return ObjectResponse(request, code, registry::ScaleOf(object, *request.subresource->scale));
  }
  return ObjectResponse(request, code, object);
}

meta::Result<mesh::Response> Respond(const ResourceRequest& request, int code, const storage::EntryPtr& entry) {
  if (!request.subresource || !request.subresource->scale) return ObjectResponse(request, code, entry);
  ASSIGN_OR_RETURN(const meta::Object object, ParseEntry(*entry));
  return Respond(request, code, object);
}

/// Runs an update without the write.
Task<meta::Result<mesh::Response>> DryRun(StatePtr state, storage::Key key) {
  const ResourceRequest& request = *state->request;
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> entry = co_await request.served->store->Get(request.ctx, key, newest);
  if (!entry && !entry.error().Is(meta::Reason::kNotFound)) co_return entry.error();
  if (!entry && !state->input.create_allowed) co_return entry.error();
  std::optional<meta::Object> current;
  if (entry) {
    ASSIGN_OR_CO_RETURN(current, ParseEntry(**entry));
  }
  const std::string found(current ? current->Uid() : std::string_view());
  if (const std::optional<std::string>& uid = state->input.preconditions.uid; uid && *uid != found) {
    storage::ResourceConfig config;
    config.resource = request.GetGroupResource();
    const std::string path = fmt::format("/{}/{}", request.Resource().storage_prefix, key.text);
    co_return storage::PreconditionFailed(config, request.Name(), path,
                                          fmt::format("UID in precondition: {}, UID in object meta: {}", *uid, found));
  }
  const UpdateAnswer answer = co_await UpdateOnce(state, current ? &*current : nullptr);
  if (!answer) co_return answer.error();
  ASSIGN_OR_CO_RETURN(const meta::Object seen, co_await request.served->store->AsRead(std::move(*state->dry_run)));
  co_return Respond(request, current ? 200 : 201, seen);
}

/// Deletes an object that has lost its last finalizer during the update.
Task<meta::Result<mesh::Response>> RemoveEmptied(StatePtr state, storage::Key key) {
  const ResourceRequest& request = *state->request;
  const auto any = [](const meta::Object&) -> Task<meta::Result<>> { co_return meta::Result<>(); };
  const Store::ValidateFn accept = any;
  const meta::Result<storage::EntryPtr> gone =
      co_await request.served->store->Delete(request.ctx, std::move(key), state->input.preconditions, accept);
  if (!gone && !gone.error().Is(meta::Reason::kNotFound)) co_return gone.error();
  if (gone) co_await RunAfterDelete(request, **gone);
  co_return Respond(request, 200, *state->emptied);
}

}  // namespace

Task<meta::Result<mesh::Response>> RunUpdate(RequestPtr request, UpdateInput input) {
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(request->Name()));
  input.create_allowed |= !request->subresource && request->Strategy().AllowCreateOnUpdate();
  if (const auto& convert = request->Resource().convert_suspending)
    request->views = std::make_shared<ConvertedViews>(convert);
  const auto state = std::make_shared<UpdateState>(request, std::move(input));
  if (state->input.options.dry_run) co_return co_await DryRun(state, key);

  const Store::UpdateFn update = [state](const meta::Object* current) { return UpdateOnce(state, current); };
  Task<meta::Result<Store::UpdateResult>> write = request->served->store->GuaranteedUpdate(
      request->ctx, key, state->input.preconditions, state->input.create_allowed, update);
  ASSIGN_OR_CO_RETURN(const Store::UpdateResult result, co_await state->held.During(std::move(write)));
  if (state->emptied) co_return co_await RemoveEmptied(state, key);
  co_return Respond(*request, result.created ? 201 : 200, result.entry);
}

}  // namespace apimesh::endpoint
