#include "lib/endpoint/write/creation.h"

#include "lib/registry/before_write.h"

namespace apimesh::endpoint {
namespace {

/// Authorizes the creation by a PUT or apply, which was authorized as an update or patch. Without this check, a user
/// who may only change objects could create them.
Task<meta::Result<>> AuthorizeCreation(Write& write) {
  const auto& authorize = write.request->env->authorize_create;
  if (!authorize || write.request->Info().verb == meta::Verb::kCreate) co_return meta::Result<>();
  co_return co_await authorize(write.request->ctx);
}

meta::Result<> FillMetadata(Write& write) {
  registry::FillSystemMeta(write.object, write.request->env->sources);
  return {};
}

meta::Result<> PrepareAndValidate(Write& write) {
  const ResourceRequest& request = *write.request;
  return registry::BeforeCreate(request.Resource(), request.Strategy(), request.ctx, write.object);
}

constexpr WriteStep kAdmission[] = {
    {.wait = &AuthorizeCreation},  // first, so that plugins and hooks do not run for a user who may not create
    {.run = &TrackManagedFields},
    {.wait = &MutatingAdmission},
};
constexpr WriteStep kPreparation[] = {
    {.wait = &CheckContent},   // after mutating admission, which may change the object
    {.run = &FillMetadata},    // before the hooks, which record the name of the object
    {.wait = &TakeResources},  // before validation, which checks the allocated values
    {.run = &PrepareAndValidate}, {.wait = &ValidatingAdmission}, {.run = &Normalise},
};

}  // namespace

Task<meta::Result<>> AdmitCreation(Write& write) { return RunSteps(kAdmission, write); }
Task<meta::Result<>> PrepareCreation(Write& write) { return RunSteps(kPreparation, write); }

}  // namespace apimesh::endpoint
