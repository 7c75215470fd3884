#include "lib/admission/objects/cluster_objects.h"

#include <fmt/format.h>

namespace apimesh::admission {
namespace {

template <class T>
Task<meta::Result<T>> Unreadable(meta::Gvr resource) {
  meta::ApiError::Data data;  // a 500 without the prefix of internal errors, because plugins quote the message
  data.message = fmt::format("{} cannot be read here", resource.GroupResource().ToString());
  co_return meta::ApiError(std::move(data));
}

/// The subscription to a resource that cannot be read. It never reports an object.
class NoSubscription final : public Subscription {
 public:
  bool Synced() const override { return false; }
};

}  // namespace

SourcePtr ClusterObjects::SourceOf(const meta::Gvr& resource) {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(resource);
  if (found != sources_.end()) return found->second;
  if (stopped_) return nullptr;
  const storage::StorePtr store = parts_.store ? parts_.store(resource) : nullptr;
  if (!store && !parts_.server) return nullptr;
  return sources_[resource] = store ? NewStoreSource(resource, store, parts_.executor)
                                    : NewMeshSource(resource, parts_.server, parts_.executor, parts_.clock);
}

// These functions are not coroutines: they return the task of the source, which avoids a second coroutine frame.
Task<meta::Result<ObjectPtr>> ClusterObjects::Get(meta::RequestContext ctx, meta::Gvr resource, std::string ns,
                                                  std::string name, Read read) {
  const SourcePtr source = SourceOf(resource);
  if (!source) return Unreadable<ObjectPtr>(std::move(resource));
  return source->Get(std::move(ctx), std::move(ns), std::move(name), read);
}

Task<meta::Result<std::vector<ObjectPtr>>> ClusterObjects::List(meta::RequestContext ctx, meta::Gvr resource,
                                                                std::string ns, meta::LabelSelector labels, Read read) {
  const SourcePtr source = SourceOf(resource);
  if (!source) return Unreadable<std::vector<ObjectPtr>>(std::move(resource));
  return source->List(std::move(ctx), std::move(ns), std::move(labels), read);
}

std::unique_ptr<Subscription> ClusterObjects::Subscribe(const meta::Gvr& resource,
                                                        std::function<void(const Change&)> changed) {
  const SourcePtr source = SourceOf(resource);
  if (!source) return std::make_unique<NoSubscription>();
  return source->Subscribe(std::move(changed));
}

void ClusterObjects::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& [resource, source] : sources_) source->Stop();
}

}  // namespace apimesh::admission
