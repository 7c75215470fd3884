#include "lib/registry/cleanup_context.h"
#include "lib/registry/resource.h"

namespace apimesh::registry {
namespace {

constexpr auto kCleanupTimeout = std::chrono::seconds(30);

}  // namespace

meta::RequestContext CleanupContext(const meta::RequestContext& ctx, const Clock& clock) {
  meta::RequestContext::State state;
  state.cluster = ctx.Cluster();
  state.user = ctx.User();
  state.info = ctx.Info();
  state.audit_id = ctx.AuditId();
  state.traceparent = ctx.TraceParent();
  state.deadline = {clock.Steady() + kCleanupTimeout, clock};
  return meta::RequestContext(std::move(state));
}

Task<meta::Result<>> Hooks::BeginCreate(meta::RequestContext, meta::Object&) { co_return meta::Result<>(); }
Task<meta::Result<>> Hooks::BeginUpdate(meta::RequestContext, meta::Object&, const meta::Object&) {
  co_return meta::Result<>();
}
Task<meta::Result<>> Hooks::DryRunCreate(meta::RequestContext, meta::Object&) { co_return meta::Result<>(); }
Task<meta::Result<>> Hooks::DryRunUpdate(meta::RequestContext, meta::Object&, const meta::Object&) {
  co_return meta::Result<>();
}
Task<> Hooks::GiveBack(meta::RequestContext, const meta::Object&, const meta::Object&) { co_return; }
Task<> Hooks::AbandonCreate(meta::RequestContext, const meta::Object&) { co_return; }
Task<> Hooks::AfterDelete(meta::RequestContext, const meta::Object&) { co_return; }

}  // namespace apimesh::registry
