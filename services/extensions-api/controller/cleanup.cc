#include "services/extensions-api/controller/cleanup.h"

#include <set>

#include "lib/base/async/wakeup.h"
#include "lib/endpoint/request.h"
#include "lib/registry/object_meta.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/crd_store.h"

namespace apimesh::extensions_api {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(20);
constexpr Duration kLongestPause = std::chrono::seconds(1);

Task<meta::Result<>> SetTerminating(const Cleanup& cleanup, Condition condition) {
  const CrdChange change = [condition, clock = cleanup.environment->sources.clock](meta::Object& crd) {
    if (FindCondition(crd, condition.type) == condition) return false;
    SetCondition(crd, condition, clock->Now());
    return true;
  };
  co_return co_await ChangeCrd(cleanup.crds, cleanup.name, cleanup.uid, change);
}

/// Returns the namespaces that contain objects; "" for a cluster-scoped kind.
Task<meta::Result<std::set<std::string>>> NamespacesInUse(const Cleanup& cleanup) {
  const meta::RequestContext ctx;
  const storage::ListOptions all;
  const meta::Result<std::unique_ptr<storage::ListCursor>> cursor = co_await cleanup.instances->store->List(ctx, all);
  if (!cursor) co_return cursor.error();
  const bool namespaced = cleanup.instances->resource.scope == registry::Scope::kNamespaced;
  std::set<std::string> namespaces;
  for (;;) {
    const std::vector<storage::EntryPtr> some = (*cursor)->Next(64);
    if (some.empty()) break;
    for (const storage::EntryPtr& entry : some) {
      const std::string& key = entry->GetKey().text;
      namespaces.insert(namespaced ? key.substr(0, key.find('/')) : "");
    }
  }
  co_return namespaces;
}

/// Deletes all objects once through the API layer, so that admission and finalizers apply.
Task<meta::Result<>> DeleteInstances(const Cleanup& cleanup, std::string ns) {
  mesh::Request request;
  request.method = "DELETE";
  request.headers.emplace_back("accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  request.user.name = "system:apiserver";
  request.user.groups = {"system:masters"};
  const registry::Resource& resource = cleanup.instances->resource;
  request.info.is_resource_request = true;
  request.info.verb = meta::Verb::kDeleteCollection;
  request.info.api_group = resource.gvk.group;
  request.info.api_version = resource.gvk.version;
  request.info.resource = resource.plural;
  request.info.ns = std::move(ns);
  auto whole = std::make_shared<endpoint::ResourceRequest>(cleanup.environment, cleanup.instances, std::move(request));
  const mesh::Response response = co_await endpoint::Serve(std::move(whole));
  if (response.code == 200) co_return meta::Result<>();
  co_return meta::InternalError("could not issue all deletes: " + response.Text());
}

/// Removes our finalizer, which is the last one. The definition is deleted with it.
Task<meta::Result<>> Release(const Cleanup& cleanup) {
  const CrdChange change = [](meta::Object& crd) {
    std::vector<std::string> finalizers = registry::Finalizers(crd);
    if (std::erase(finalizers, kCleanupFinalizer) == 0) return false;
    registry::SetFinalizers(crd, finalizers);
    return true;
  };
  co_return co_await ChangeCrd(cleanup.crds, cleanup.name, cleanup.uid, change);
}

}  // namespace

Task<meta::Result<>> CleanUp(Cleanup cleanup) {
  const Condition begun{"Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"};
  CO_RETURN_IF_ERROR(co_await SetTerminating(cleanup, begun));
  if (!cleanup.instances) {
    const Condition never{"Terminating", "False", "NeverEstablished", "resource was never established"};
    CO_RETURN_IF_ERROR(co_await SetTerminating(cleanup, never));
    co_return co_await Release(cleanup);
  }
  ASSIGN_OR_CO_RETURN(const std::set<std::string> namespaces, co_await NamespacesInUse(cleanup));
  for (const std::string& ns : namespaces) CO_RETURN_IF_ERROR(co_await DeleteInstances(cleanup, ns));
  for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    ASSIGN_OR_CO_RETURN(const std::set<std::string> left, co_await NamespacesInUse(cleanup));
    if (left.empty()) break;
    co_await SleepFor(pause);
  }
  const Condition done{"Terminating", "False", "InstanceDeletionCompleted", "removed all instances"};
  CO_RETURN_IF_ERROR(co_await SetTerminating(cleanup, done));
  co_return co_await Release(cleanup);
}

}  // namespace apimesh::extensions_api
