#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lib/admission/chain.h"
#include "lib/registry/before_write.h"
#include "lib/registry/resource.h"
#include "lib/rpc/delegate.h"
#include "lib/schema/schema.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Takes over an upgraded connection to a subresource.
using ConnectHandler =
    std::function<Task<>(meta::RequestContext ctx, rpc::Request request, std::unique_ptr<rpc::ConnectStream> stream)>;

/// One resource as a server serves it: what it is, where its objects are and who may refuse a write. Immutable.
struct ServedResource {
  registry::Resource resource;
  storage::StorePtr store;  // nullptr for resources with an action and no objects
  admission::ChainPtr admission;
  /// A custom resource: documents have sorted keys, list items carry their type, there is no protobuf and no strategic merge.
  bool custom = false;
  std::map<std::string, ConnectHandler> connect;  // by subresource
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
  /// Watches without timeoutSeconds last between this and twice this.
  std::chrono::seconds min_request_timeout{1800};
};
using EnvironmentPtr = std::shared_ptr<const Environment>;

}  // namespace apimesh::endpoint
