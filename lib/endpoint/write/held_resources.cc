#include "lib/endpoint/write/held_resources.h"

#include "lib/endpoint/write/write.h"
#include "lib/registry/cleanup_context.h"
#include "lib/storage/etcd_store/errors.h"

namespace apimesh::endpoint {

HeldResources::HeldResources(RequestPtr request, bool dry_run)
    : request_(std::move(request)),
      // Subresources do not write the fields that hooks allocate.
      hooks_(request_->subresource ? nullptr : request_->Resource().hooks.get()),
      dry_run_(dry_run) {}

Task<meta::Result<>> HeldResources::Take(meta::Object& object, const meta::Object* old) {
  if (!hooks_) co_return meta::Result<>();
  if (dry_run_) {
    // This is not a conditional operator, because GCC 12 evaluates both branches of one that has a co_await in each.
    meta::Result<> done;
    if (old) {
      done = co_await hooks_->DryRunUpdate(request_->ctx, object, *old);
    } else {
      done = co_await hooks_->DryRunCreate(request_->ctx, object);
    }
    co_return done;
  }
  if (old) {
    CO_RETURN_IF_ERROR(co_await hooks_->BeginUpdate(request_->ctx, object, *old));
    taken_.emplace(Taken{object, *old, std::nullopt});
  } else {
    CO_RETURN_IF_ERROR(co_await hooks_->BeginCreate(request_->ctx, object));
    taken_.emplace(Taken{object, std::nullopt, std::nullopt});
  }
  co_return meta::Result<>();
}

void HeldResources::HandToStore(const meta::Object& object) {
  if (taken_) taken_->stored = object;
}

Task<> HeldResources::Release() {
  if (!taken_) co_return;
  const Taken taken = std::move(*taken_);
  taken_.reset();
  const meta::RequestContext cleanup = registry::CleanupContext(request_->ctx, *request_->env->sources.clock);
  if (taken.old) {
    co_await hooks_->GiveBack(cleanup, taken.object, *taken.old);
  } else {
    co_await hooks_->AbandonCreate(cleanup, taken.object);
  }
}

Task<> HeldResources::Finish(bool written, const meta::ApiError* error) {
  if (!written) {
    const bool may_exist = taken_->stored && (!error || storage::IsOutcomeUnknown(*error));
    if (may_exist) {
      taken_.reset();
    } else {
      co_await Release();
    }
    co_return;
  }
  const Taken taken = std::move(*taken_);
  taken_.reset();
  if (!taken.stored) co_return;
  const meta::RequestContext cleanup = registry::CleanupContext(request_->ctx, *request_->env->sources.clock);
  if (taken.old) co_await hooks_->GiveBack(cleanup, *taken.old, *taken.stored);
  co_await hooks_->GiveBack(cleanup, taken.object, *taken.stored);  // values that the strategy has removed again
}

Task<> RunAfterDelete(const ResourceRequest& request, const storage::Entry& last) {
  registry::Hooks* const hooks = request.Resource().hooks.get();
  if (!hooks) co_return;
  const meta::Result<meta::Object> object = ParseEntry(last);
  if (object) co_await hooks->AfterDelete(registry::CleanupContext(request.ctx, *request.env->sources.clock), *object);
}

}  // namespace apimesh::endpoint
