#include <fmt/format.h>

#include "lib/endpoint/input/decode.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/endpoint/write/creation.h"
#include "lib/endpoint/write/write.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/registry/before_write.h"
#include "lib/registry/object_meta.h"
#include "lib/tracing/span.h"

namespace apimesh::endpoint {
namespace {

constexpr int kNameAttempts = 8;

/// A created object. `entry` is the stored object, or nullptr after a dry run.
struct Created {
  storage::EntryPtr entry;
  meta::Object object;
};

bool NeedsName(const meta::Object& object) { return object.Name().empty() && !object.GenerateName().empty(); }

/// Adds details to an AlreadyExists error: that the name was generated, or that the object is being deleted.
Task<meta::ApiError> ExplainExisting(RequestPtr request, storage::Key key, meta::ApiError error, bool generated) {
  meta::ApiError::Data data = error.Get();
  if (generated) {
    data.message = fmt::format("{} {} already exists, the server was not able to generate a unique name for the object",
                               request->GetGroupResource().ToString(), meta::Quoted(data.name));
    data.retry_after_seconds = 1;
  }
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> existing =
      co_await request->served->store->Get(request->ctx, std::move(key), newest);
  if (existing) {
    const meta::Result<meta::Object> object = ParseEntry(**existing);
    if (object && !object->DeletionTimestamp().empty()) data.message = "object is being deleted: " + data.message;
  }
  co_return meta::ApiError(std::move(data));
}

/// A resourceVersion that is a number is an error; any other text is ignored, as in kube-apiserver.
meta::Result<> CheckNoVersion(const meta::Object& object) {
  const meta::Result<storage::Revision> version = storage::ParseResourceVersion(object.ResourceVersion());
  if (!version || *version == 0) return {};
  return meta::PlainError("resourceVersion should not be set on objects to be created");
}

/// The dry run of a create: checks that the name is not in use.
Task<meta::Result<storage::EntryPtr>> CheckFree(RequestPtr request, storage::Key key, std::string name) {
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> existing =
      co_await request->served->store->Get(request->ctx, std::move(key), newest);
  if (existing) co_return meta::AlreadyExists(request->GetGroupResource(), name);
  co_return storage::EntryPtr();
}

/// Makes one attempt with one name.
Task<meta::Result<Created>> CreateOnce(Write& write) {
  const RequestPtr& request = write.request;
  const bool generated = NeedsName(write.object);
  CO_RETURN_IF_ERROR(co_await PrepareCreation(write));
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(write.object.Name()));
  Created created;
  meta::Result<storage::EntryPtr> stored = storage::EntryPtr();
  if (write.options->dry_run) {
    std::string name(write.object.Name());
    stored = co_await CheckFree(request, key, std::move(name));
    if (stored) {
      ASSIGN_OR_CO_RETURN(created.object, co_await request->served->store->AsRead(std::move(write.object)));
    }
  } else {
    CO_RETURN_IF_ERROR(CheckNoVersion(write.object));
    write.object.EraseMeta("resourceVersion");
    write.held->HandToStore(write.object);
    stored =
        co_await request->served->store->Create(request->ctx, key, std::move(write.object), request->Resource().ttl);
  }
  if (stored) {
    created.entry = std::move(*stored);
    co_return created;
  }
  if (!stored.error().Is(meta::Reason::kAlreadyExists)) co_return stored.error();
  co_return co_await ExplainExisting(request, key, stored.error(), generated);
}

/// Tries several names if the server generates the name.
Task<meta::Result<Created>> CreateNamed(Write write) {
  const bool retry = NeedsName(write.object);
  for (int attempt = 1;; ++attempt) {
    const bool last = !retry || attempt == kNameAttempts;
    Write one;
    one.request = write.request;
    one.options = write.options;
    one.held = write.held;
    one.object = last ? std::move(write.object) : write.object;
    Task<meta::Result<Created>> work = CreateOnce(one);
    meta::Result<Created> created = co_await write.held->During(std::move(work));
    if (created || last || !created.error().Is(meta::Reason::kAlreadyExists)) co_return created;
  }
}

/// Runs a create that stores nothing. The response is the result of the action.
Task<Answer> RunAction(Write write, registry::Action action) {
  static constexpr WriteStep kSteps[] = {{.wait = &MutatingAdmission}, {.wait = &ValidatingAdmission}};
  const RequestPtr& request = write.request;
  // The body of an action of a subresource has its own kind, and its response has no managedFields.
  if (!request->subresource) CO_RETURN_IF_ERROR(TrackManagedFields(write));
  CO_RETURN_IF_ERROR(co_await RunSteps(kSteps, write));
  ASSIGN_OR_CO_RETURN(meta::Object result,
                      co_await action(request->ctx, request->Name(), std::move(write.object), write.options->dry_run));
  if (result.Kind() == "Status") co_return StatusResponse(*request, 201, result.Root());
  co_return ObjectResponse(*request, 201, result);
}

}  // namespace

Task<Answer> Create(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(const WriteOptions options, ParseWriteOptions(request->query, WriteKind::kCreate));
  HeldResources held(request, options.dry_run);
  Write write;
  write.request = request;
  write.options = &options;
  write.held = &held;
  tracing::Event(request->ctx.Span(), "About to convert to expected version");
  ASSIGN_OR_CO_RETURN(write.object, DecodeBody(*request, options.field_validation));
  tracing::Event(request->ctx.Span(), "Conversion done");
  const registry::Action& action = request->subresource ? request->subresource->create : request->Resource().create;
  if (!action) registry::ClearSystemMeta(write.object);
  CO_RETURN_IF_ERROR(registry::MatchNamespace(write.object, request->ObjectNamespace()));
  if (action) co_return co_await RunAction(std::move(write), action);

  DropDuplicateOwners(*request, write.object, false);
  tracing::Event(request->ctx.Span(), "About to store object in database");
  CO_RETURN_IF_ERROR(co_await AdmitCreation(write));
  ASSIGN_OR_CO_RETURN(const Created created, co_await CreateNamed(std::move(write)));
  tracing::Event(request->ctx.Span(), "Write to database call succeeded");
  if (created.entry) co_return ObjectResponse(*request, 201, created.entry);
  co_return ObjectResponse(*request, 201, created.object);
}

}  // namespace apimesh::endpoint
