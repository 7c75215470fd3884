#include "lib/registry/resource.h"

namespace apimesh::registry {

Task<meta::Result<>> Hooks::BeginCreate(meta::RequestContext, meta::Object&) { co_return meta::Result<>(); }
Task<meta::Result<>> Hooks::BeginUpdate(meta::RequestContext, meta::Object&, const meta::Object&) {
  co_return meta::Result<>();
}
Task<> Hooks::GiveBack(meta::RequestContext, const meta::Object&, const meta::Object&) { co_return; }
Task<> Hooks::AbandonCreate(meta::RequestContext, const meta::Object&) { co_return; }
Task<> Hooks::AfterDelete(meta::RequestContext, const meta::Object&) { co_return; }

}  // namespace apimesh::registry
