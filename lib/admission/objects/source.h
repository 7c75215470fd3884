#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/objects/objects.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/storage/store.h"

namespace apimesh::admission {

/// The objects of one resource. The functions have the contracts of Objects. Thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  virtual Task<meta::Result<ObjectPtr>> Get(meta::RequestContext ctx, std::string ns, std::string name, Read read) = 0;
  virtual Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext ctx, std::string ns,
                                                          meta::LabelSelector labels, Read read) = 0;
  virtual std::unique_ptr<Subscription> Subscribe(std::function<void(const Change&)> changed) = 0;
  /// Ends the background work. Reads of cached data still work.
  virtual void Stop() = 0;
};
using SourcePtr = std::shared_ptr<Source>;

/// Creates the source of a resource that this process has a store of. Cached reads use the watch cache of the store.
SourcePtr NewStoreSource(meta::Gvr resource, storage::StorePtr store, boost::asio::any_io_executor executor);

/// Creates the source of a resource that the peer process `server` serves. A watch, which starts immediately, keeps all
/// of its objects in memory. Until the first list has arrived, cached reads send requests to the server.
SourcePtr NewMeshSource(meta::Gvr resource, std::shared_ptr<mesh::DelegateClient> server,
                        boost::asio::any_io_executor executor, const Clock& clock);

/// Returns "/apis/apps/v1/namespaces/ns/deployments/name". Without a name it is the path of the collection, without a
/// namespace that of the complete cluster.
std::string PathOf(const meta::Gvr& resource, std::string_view ns, std::string_view name);

}  // namespace apimesh::admission
