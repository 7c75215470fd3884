#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lib/admission/chain.h"
#include "lib/endpoint/connector.h"
#include "lib/registry/before_write.h"
#include "lib/registry/resource.h"
#include "lib/rpc/delegate.h"
#include "lib/schema/schema.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Whether the user may write this, by what is in it: asked once admission has changed the object and before the strategy
/// sees it; in dry runs as well. Thread-safe.
class WriteChecks {
 public:
  virtual ~WriteChecks() = default;
  virtual Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& object) = 0;
  virtual Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& object, const meta::Object& old) = 0;
};

/// One resource as a server serves it: what it is, where its objects are and who may refuse a write. Immutable.
struct ServedResource {
  registry::Resource resource;
  storage::StorePtr store;  // nullptr for resources with an action and no objects: other verbs are 405 there
  admission::ChainPtr admission;
  /// A custom resource: documents have sorted keys, list items carry their type, there is no protobuf and no strategic merge.
  bool custom = false;
  std::map<std::string, std::shared_ptr<Connector>> connectors;  // by subresource
  std::shared_ptr<WriteChecks> checks;                           // nullptr: none
  /// Warning headers of every answer: the version is deprecated.
  std::vector<std::string> warnings;
  /// Keeps alive what `resource` points into (the schema of a custom resource).
  std::shared_ptr<const void> owner;
};
using ServedResourcePtr = std::shared_ptr<const ServedResource>;

/// What verbs need besides the resource; one for a server.
struct Environment {
  registry::Sources sources;
  /// Definitions of the meta kinds (Status, DeleteOptions); nullptr: those are JSON and YAML only.
  const schema::Schema* meta_schema = nullptr;
  /// Whether some resource of this server has this kind, for the texts about wrong bodies.
  std::function<bool(const meta::Gvk& kind)> knows_kind;
  /// Whether the user may create what an update or apply would create; empty: yes.
  std::function<Task<meta::Result<>>(meta::RequestContext ctx)> authorize_create;
  /// Whether the user may delete unseen what can't be read; empty: nobody may.
  std::function<Task<meta::Result<>>(meta::RequestContext ctx)> authorize_unsafe_delete;
  /// Where the work of large requests is done (lib/endpoint/large_requests.h); empty: where they came from.
  boost::asio::any_io_executor large_requests;
  /// Watches without timeoutSeconds last between this and twice this.
  std::chrono::seconds min_request_timeout{1800};
};
using EnvironmentPtr = std::shared_ptr<const Environment>;

}  // namespace apimesh::endpoint
