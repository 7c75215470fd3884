#include "lib/endpoint/write.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/decode.h"
#include "lib/endpoint/encode.h"
#include "lib/patch/managed_fields.h"
#include "lib/registry/before_write.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/scale.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using admission::Operation;
using Store = storage::Store;

constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Shared by the runs of one update.
struct UpdateState {
  RequestPtr request;
  UpdateInput input;
  std::optional<meta::Object> emptied;  // lost its last finalizer while it was being deleted: to be removed
  std::optional<meta::Object> settled;  // the last result, for dry runs
  std::optional<std::pair<meta::Object, meta::Object>> held;  // what hooks took for the new object, and the old one
};
using StatePtr = std::shared_ptr<UpdateState>;
using UpdateAnswer = meta::Result<std::optional<Store::Update>>;

/// What admission sees of a write: the object, or its Scale where the subresource shows the object as one.
class AdmissionView {
 public:
  AdmissionView(const ResourceRequest& request, meta::Object& object, const meta::Object* old)
      : paths_(request.subresource && request.subresource->scale ? &*request.subresource->scale : nullptr), object_(object), old_(old) {
    if (!paths_) return;
    scale_ = registry::ScaleOf(object, *paths_);
    if (old) old_scale_ = registry::ScaleOf(*old, *paths_);
  }
  meta::Object* Object() { return paths_ ? &scale_ : &object_; }
  const meta::Object* Old() const { return paths_ && old_ ? &old_scale_ : old_; }
  /// Brings changes that plugins made back into the object.
  meta::Result<> Apply() { return paths_ ? registry::ApplyScale(scale_, object_, *paths_) : meta::Result<>(); }

 private:
  const registry::ScalePaths* const paths_;
  meta::Object& object_;
  const meta::Object* const old_;
  meta::Object scale_, old_scale_;
};

Task<meta::Result<>> Admit(StatePtr state, Operation operation, meta::Object& object, const meta::Object* old) {
  const ResourceRequest& request = *state->request;
  const WriteOptions& options = state->input.options;
  AdmissionView view(request, object, old);
  admission::Attributes attributes = AttributesOf(request, operation, view.Object(), view.Old(), &options.document, options.dry_run);
  CO_RETURN_IF_ERROR(co_await request.served->admission->Mutate(request.ctx, attributes));
  CO_RETURN_IF_ERROR(view.Apply());
  DropDuplicateOwners(request, object, true);
  co_return meta::Result<>();
}

Task<meta::Result<>> Validate(StatePtr state, Operation operation, meta::Object& object, const meta::Object* old) {
  const ResourceRequest& request = *state->request;
  const WriteOptions& options = state->input.options;
  AdmissionView view(request, object, old);
  const admission::Attributes attributes =
      AttributesOf(request, operation, view.Object(), view.Old(), &options.document, options.dry_run);
  co_return co_await request.served->admission->Validate(request.ctx, attributes);
}

/// The last run of the update came to nothing.
Task<> Abandon(StatePtr state) {
  if (!state->held) co_return;
  const auto [object, old] = *std::exchange(state->held, std::nullopt);
  co_await state->request->Resource().hooks->GiveBack(state->request->ctx, object, old);
}

Task<UpdateAnswer> CreateInstead(StatePtr state) {
  const ResourceRequest& request = *state->request;
  if (!state->input.create_allowed) co_return meta::NotFound(request.GetGroupResource(), request.Name());
  ASSIGN_OR_CO_RETURN(meta::Object object, state->input.desired(nullptr));
  CO_RETURN_IF_ERROR(co_await Admit(state, Operation::kCreate, object, nullptr));
  registry::Hooks* hooks = request.Resource().hooks.get();
  WriteChecks* checks = request.served->checks.get();
  if (checks) CO_RETURN_IF_ERROR(co_await checks->CheckCreate(request.ctx, object));
  if (hooks && !state->input.options.dry_run) CO_RETURN_IF_ERROR(co_await hooks->BeginCreate(request.ctx, object));
  CO_RETURN_IF_ERROR(registry::BeforeCreate(request.Resource(), request.Strategy(), request.ctx, object, request.env->sources));
  if (request.env->authorize_create) CO_RETURN_IF_ERROR(co_await request.env->authorize_create(request.ctx));
  CO_RETURN_IF_ERROR(co_await Validate(state, Operation::kCreate, object, nullptr));
  CO_RETURN_IF_ERROR(Settle(request, object));
  if (state->input.options.dry_run) state->settled = object;
  co_return std::optional<Store::Update>(Store::Update{std::move(object), request.Resource().ttl});
}

meta::Result<> CheckVersion(const ResourceRequest& request, meta::Object& object, const meta::Object& current) {
  const std::string_view version = object.ResourceVersion();
  if (version.empty() || version == "0") {
    if (!request.Strategy().AllowUnconditionalUpdate()) {
      const meta::GroupResource resource = request.GetGroupResource();
      return meta::Invalid(meta::GroupKind{resource.group, resource.resource}, request.Name(),
                           {meta::Invalid("metadata.resourceVersion", "0", "must be specified for an update")});
    }
    object.SetMeta("resourceVersion", current.ResourceVersion());
    return {};
  }
  if (const auto parsed = storage::ParseResourceVersion(version); !parsed) {
    meta::ApiError::Data data = parsed.error().Get();  // without the name of the parameter, of which there is none
    data.message.erase(0, data.message.find("strconv."));
    return meta::ApiError(std::move(data));
  }
  if (version != current.ResourceVersion()) return meta::Conflict(request.GetGroupResource(), request.Name(), kModified);
  return {};
}

Task<UpdateAnswer> UpdateOnce(StatePtr state, const meta::Object* current) {
  state->emptied.reset();
  state->settled.reset();
  co_await Abandon(state);
  if (!current) co_return co_await CreateInstead(state);
  const ResourceRequest& request = *state->request;
  ASSIGN_OR_CO_RETURN(meta::Object object, state->input.desired(current));
  CO_RETURN_IF_ERROR(co_await Admit(state, Operation::kUpdate, object, current));
  CO_RETURN_IF_ERROR(CheckVersion(request, object, *current));
  registry::Hooks* hooks = request.Resource().hooks.get();
  WriteChecks* checks = request.served->checks.get();
  if (checks && !request.subresource) CO_RETURN_IF_ERROR(co_await checks->CheckUpdate(request.ctx, object, *current));
  if (hooks && !state->input.options.dry_run && !request.subresource) {
    CO_RETURN_IF_ERROR(co_await hooks->BeginUpdate(request.ctx, object, *current));
    state->held.emplace(object, *current);
  }
  CO_RETURN_IF_ERROR(registry::BeforeUpdate(request.Resource(), request.Strategy(), request.ctx, object, *current,
                                            request.subresource && !request.subresource->scale));
  CO_RETURN_IF_ERROR(co_await Validate(state, Operation::kUpdate, object, current));
  CO_RETURN_IF_ERROR(Settle(request, object));
  if (state->input.options.dry_run) state->settled = object;
  if (registry::DeletesDuringUpdate(request.Strategy(), object, *current)) {
    state->emptied = std::move(object);
    co_return std::optional<Store::Update>();
  }
  co_return std::optional<Store::Update>(Store::Update{std::move(object), request.Resource().ttl});
}

meta::Result<rpc::Response> Respond(const ResourceRequest& request, int code, const meta::Object& object) {
  if (request.subresource && request.subresource->scale) {
    return ObjectResponse(request, code, registry::ScaleOf(object, *request.subresource->scale));
  }
  return ObjectResponse(request, code, object);
}

meta::Result<rpc::Response> Respond(const ResourceRequest& request, int code, const storage::EntryPtr& entry) {
  if (!request.subresource || !request.subresource->scale) return ObjectResponse(request, code, entry);
  ASSIGN_OR_RETURN(const json::value value, codec::ParseJson(entry->Json().View(), meta::NewArena()));
  return Respond(request, code, meta::Object(value.get_object()));
}

/// The same, without the last step.
Task<meta::Result<rpc::Response>> DryRun(StatePtr state, storage::Key key) {
  const ResourceRequest& request = *state->request;
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> entry = co_await request.served->store->Get(request.ctx, std::move(key), newest);
  if (!entry && !entry.error().Is("NotFound")) co_return entry.error();
  std::optional<meta::Object> current;
  if (entry) {
    ASSIGN_OR_CO_RETURN(const json::value value, codec::ParseJson((*entry)->Json().View(), meta::NewArena()));
    current.emplace(value.get_object());
    const std::optional<std::string>& uid = state->input.preconditions.uid;
    if (uid && *uid != current->Uid()) {
      co_return meta::Conflict(request.GetGroupResource(), request.Name(),
                               fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", *uid,
                                           current->Uid()));
    }
  }
  const UpdateAnswer answer = co_await UpdateOnce(state, current ? &*current : nullptr);
  if (!answer) co_return answer.error();
  co_return Respond(request, current ? 200 : 201, *state->settled);
}

/// The object lost its last finalizer: the update becomes its deletion.
Task<meta::Result<rpc::Response>> RemoveEmptied(StatePtr state, storage::Key key) {
  const ResourceRequest& request = *state->request;
  const auto any = [](const meta::Object&) -> Task<meta::Result<>> { co_return meta::Result<>(); };
  const Store::ValidateFn accept = any;
  const meta::Result<storage::EntryPtr> gone =
      co_await request.served->store->Delete(request.ctx, std::move(key), state->input.preconditions, accept);
  if (!gone && !gone.error().Is("NotFound")) co_return gone.error();
  registry::Hooks* hooks = request.Resource().hooks.get();
  if (hooks) co_await hooks->AfterDelete(request.ctx, *state->emptied);
  co_return Respond(request, 200, *state->emptied);
}

}  // namespace

admission::Attributes AttributesOf(const ResourceRequest& request, Operation operation, meta::Object* object,
                                   const meta::Object* old, const json::object* options, bool dry_run) {
  admission::Attributes attributes;
  attributes.operation = operation;
  attributes.kind = request.BodyKind();
  attributes.resource = request.Resource().GetGvr();
  attributes.subresource = request.Info().subresource;
  attributes.ns = request.ObjectNamespace();
  attributes.name = request.Name();
  if (attributes.name.empty() && object) attributes.name = object->Name();
  attributes.object = object;
  attributes.old_object = old;
  attributes.options = options;
  attributes.dry_run = dry_run;
  return attributes;
}

void DropDuplicateOwners(const ResourceRequest& request, meta::Object& object, bool after_admission) {
  const std::vector<std::string> removed = registry::RemoveDuplicateOwners(object);
  if (removed.empty()) return;
  request.ctx.Warn(fmt::format(".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references in 1.20+, "
                               "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
                               after_admission ? " after mutating admission happens" : "", fmt::join(removed, ", ")));
}

void ForgetScaleTimes(meta::Object& object) {
  json::value* fields = meta::FindField(object.Metadata(), "managedFields");
  if (!fields || !fields->is_array()) return;
  json::array& entries = fields->get_array();
  for (json::value& entry : entries) {
    if (entry.is_object() && meta::FindString(entry.get_object(), "subresource") == "scale") meta::EraseField(entry.get_object(), "time");
  }
  const auto rank = [](const json::value& entry) {
    const json::object& object = entry.get_object();
    return std::pair(meta::FindString(object, "operation") == "Apply" ? 0 : 1, object.contains("time"));
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const json::value& a, const json::value& b) { return rank(a) < rank(b); });
}

void TrackFields(const ResourceRequest& request, const WriteOptions& options, const meta::Object* live, meta::Object& object) {
  const patch::ManagerInfo manager{.manager = ManagerName(options.field_manager, request.http.Header("user-agent")),
                                   .api_version = request.Resource().gvk.ApiVersion(),
                                   .subresource = request.Info().subresource,
                                   .now = request.env->sources.clock->Now(),
                                   .convert = request.Resource().convert};
  const patch::ResetFields& reset = request.subresource ? request.subresource->reset_fields : request.Resource().reset_fields;
  (void)patch::UpdateManagedFields(live, object, *request.Resource().schema, manager, reset);
  if (request.subresource && request.subresource->scale) ForgetScaleTimes(object);
}

meta::Result<> CheckName(const ResourceRequest& request, const meta::Object& object) {
  if (object.Name().empty()) {
    return meta::BadRequest(
        fmt::format("the name of the object ({} based on URL) was undeterminable: name must be provided", request.Name()));
  }
  if (object.Name() != request.Name()) {
    return meta::BadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})", object.Name(),
                                        request.Name()));
  }
  const std::string_view ns = request.ObjectNamespace();
  if (!ns.empty() && !object.Namespace().empty() && object.Namespace() != ns) {
    return meta::BadRequest(fmt::format("the namespace of the object ({}) does not match the namespace on the request ({})",
                                        object.Namespace(), ns));
  }
  return {};
}

Task<meta::Result<rpc::Response>> RunUpdate(RequestPtr request, UpdateInput input) {
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(request->Name()));
  input.create_allowed |= request->Strategy().AllowCreateOnUpdate();
  const auto state = std::make_shared<UpdateState>();
  state->request = request;
  state->input = std::move(input);
  if (state->input.options.dry_run) co_return co_await DryRun(state, key);

  const Store::UpdateFn update = [state](const meta::Object* current) { return UpdateOnce(state, current); };
  const meta::Result<Store::UpdateResult> result = co_await request->served->store->GuaranteedUpdate(
      request->ctx, key, state->input.preconditions, state->input.create_allowed, update);
  if (!result) {
    co_await Abandon(state);
    co_return result.error();
  }
  if (state->held) {
    const auto& [object, old] = *state->held;
    co_await request->Resource().hooks->GiveBack(request->ctx, old, object);
  }
  if (state->emptied) co_return co_await RemoveEmptied(state, key);
  co_return Respond(*request, result->created ? 201 : 200, result->entry);
}

}  // namespace apimesh::endpoint
