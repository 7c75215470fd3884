#include <fmt/format.h>

#include "lib/endpoint/decode.h"
#include "lib/endpoint/encode.h"
#include "lib/endpoint/verbs.h"
#include "lib/endpoint/write.h"
#include "lib/registry/before_write.h"
#include "lib/registry/object_meta.h"

namespace apimesh::endpoint {
namespace {

using admission::Operation;

constexpr int kNameAttempts = 8;

/// What is left to do once the object is decoded and admission changed it. Run again for another generated name.
struct Creation {
  RequestPtr request;
  WriteOptions options;
  meta::Object object;
};

Task<meta::Result<>> Admit(RequestPtr request, const WriteOptions& options, meta::Object& object) {
  admission::Attributes attributes = AttributesOf(*request, Operation::kCreate, &object, nullptr, &options.document, options.dry_run);
  // A namespace is the namespace of its own creation.
  if (attributes.ns.empty() && attributes.kind == meta::Gvk{"", "v1", "Namespace"}) attributes.ns = attributes.name;
  CO_RETURN_IF_ERROR(co_await request->served->admission->Mutate(request->ctx, attributes));
  DropDuplicateOwners(*request, object, true);
  co_return meta::Result<>();
}

Task<meta::Result<>> Validate(RequestPtr request, const WriteOptions& options, meta::Object& object) {
  const admission::Attributes attributes =
      AttributesOf(*request, Operation::kCreate, &object, nullptr, &options.document, options.dry_run);
  co_return co_await request->served->admission->Validate(request->ctx, attributes);
}

/// An object with this name is there; one that is being deleted is worth saying so.
Task<meta::ApiError> Exists(RequestPtr request, storage::Key key, meta::ApiError error, bool generated) {
  meta::ApiError::Data data = error.Get();
  if (generated) {
    data.message = fmt::format("{} {} already exists, the server was not able to generate a unique name for the object",
                               request->GetGroupResource().ToString(), meta::Quoted(data.name));
    data.retry_after_seconds = 1;
  }
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> existing = co_await request->served->store->Get(request->ctx, std::move(key), newest);
  if (existing && (*existing)->Json().View().find("\"deletionTimestamp\":") != std::string_view::npos) {
    data.message = "object is being deleted: " + data.message;
  }
  co_return meta::ApiError(std::move(data));
}

/// `last`: there will be no other attempt, so the object need not be kept.
Task<Answer> CreateOnce(std::shared_ptr<Creation> creation, bool last) {
  const RequestPtr& request = creation->request;
  const registry::Resource& resource = request->Resource();
  meta::Object object = last ? std::move(creation->object) : creation->object;
  const bool generated = object.Name().empty() && !object.GenerateName().empty();
  if (WriteChecks* checks = request->served->checks.get()) CO_RETURN_IF_ERROR(co_await checks->CheckCreate(request->ctx, object));
  const bool dry_run = creation->options.dry_run;
  registry::Hooks* hooks = dry_run ? nullptr : resource.hooks.get();
  if (hooks) CO_RETURN_IF_ERROR(co_await hooks->BeginCreate(request->ctx, object));
  meta::Result<> ready = registry::BeforeCreate(resource, request->Strategy(), request->ctx, object, request->env->sources);
  if (ready) ready = co_await Validate(request, creation->options, object);
  const meta::Result<storage::Revision> version = storage::ParseResourceVersion(object.ResourceVersion());
  if (ready && !dry_run && version && *version > 0) {  // what is no revision means nothing, as in the reference
    meta::ApiError::Data data;
    data.reason.clear();
    data.message = "resourceVersion should not be set on objects to be created";
    ready = meta::ApiError(std::move(data));
  }
  if (ready) {
    if (!dry_run) object.EraseMeta("resourceVersion");
    ready = Settle(*request, object);
  }
  if (!ready) {
    if (hooks) co_await hooks->AbandonCreate(request->ctx, object);
    co_return ready.error();
  }
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(object.Name()));
  if (dry_run) {
    const storage::GetOptions newest;
    const meta::Result<storage::EntryPtr> existing = co_await request->served->store->Get(request->ctx, key, newest);
    if (existing) {
      const meta::ApiError error = meta::AlreadyExists(request->GetGroupResource(), object.Name());
      co_return co_await Exists(request, key, error, generated);
    }
    co_return ObjectResponse(*request, 201, object);
  }
  const meta::Object copy = hooks ? object : meta::Object();
  const meta::Result<storage::EntryPtr> stored =
      co_await request->served->store->Create(request->ctx, key, std::move(object), resource.ttl);
  if (stored) co_return ObjectResponse(*request, 201, *stored);
  if (hooks) co_await hooks->AbandonCreate(request->ctx, copy);
  if (!stored.error().Is("AlreadyExists")) co_return stored.error();
  co_return co_await Exists(request, key, stored.error(), generated);
}

/// A create that stores nothing: its answer is the result of an action.
Task<Answer> Act(RequestPtr request, WriteOptions options, meta::Object object, registry::Action action) {
  CO_RETURN_IF_ERROR(co_await Admit(request, options, object));
  CO_RETURN_IF_ERROR(co_await Validate(request, options, object));
  ASSIGN_OR_CO_RETURN(meta::Object result, co_await action(request->ctx, request->Name(), std::move(object), options.dry_run));
  if (result.Kind() == "Status") co_return StatusResponse(*request, 201, result.Root());
  co_return ObjectResponse(*request, 201, result);
}

}  // namespace

Task<Answer> Create(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(WriteOptions options, ParseWriteOptions(request->query, WriteKind::kCreate));
  ASSIGN_OR_CO_RETURN(meta::Object object, DecodeBody(*request, options.field_validation));
  const registry::Action& action = request->subresource ? request->subresource->create : request->Resource().create;
  if (!action) registry::ClearSystemMeta(object);
  CO_RETURN_IF_ERROR(registry::MatchNamespace(object, request->ObjectNamespace()));
  if (action) co_return co_await Act(request, std::move(options), std::move(object), action);

  DropDuplicateOwners(*request, object, false);
  TrackFields(*request, options, nullptr, object);
  CO_RETURN_IF_ERROR(co_await Admit(request, options, object));
  const bool retry = object.Name().empty() && !object.GenerateName().empty();
  const auto creation = std::make_shared<Creation>();
  creation->request = request;
  creation->options = std::move(options);
  creation->object = std::move(object);
  for (int attempt = 1;; ++attempt) {
    const bool last = !retry || attempt == kNameAttempts;
    Answer answer = co_await CreateOnce(creation, last);
    if (answer || last || !answer.error().Is("AlreadyExists")) co_return answer;
  }
}

}  // namespace apimesh::endpoint
