#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/chain.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/registry/before_write.h"
#include "lib/registry/connector.h"
#include "lib/registry/resource.h"
#include "lib/schema/schema.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

using registry::Connector;
using registry::WriteChecks;

/// One resource as a server serves it: its definition, its store and the admission chain of its writes. Immutable.
struct ServedResource {
  registry::Resource resource;
  storage::StorePtr store;  // nullptr for a resource that only has an action; other verbs return 405
  admission::ChainPtr admission;
  /// True for a custom resource: its documents have sorted keys, its list items contain kind and apiVersion, and it
  /// supports neither protobuf nor strategic merge patches.
  bool custom = false;
  /// Converts an object of this kind to the kind of another version of a custom resource. Empty for built-in kinds,
  /// whose Resource says how they are converted.
  std::function<Task<meta::Result<meta::Object>>(meta::RequestContext ctx, meta::Object object, meta::Gvk kind)>
      convert;
  /// Owns data that `resource` points to (the schema of a custom resource).
  std::shared_ptr<const void> owner;
};
using ServedResourcePtr = std::shared_ptr<const ServedResource>;

/// Dependencies of the verbs besides the resource. There is one per server.
struct Environment {
  registry::Sources sources;
  /// Definitions of the meta kinds (Status, DeleteOptions). If nullptr, these kinds have no protobuf encoding.
  const schema::Schema* meta_schema = nullptr;
  /// Returns whether a resource of this server has this kind. It selects the error message for a body of the wrong
  /// kind.
  std::function<bool(const meta::Gvk& kind)> knows_kind;
  /// Checks whether the user may create the object that an update or apply would create. If empty, every user may.
  std::function<Task<meta::Result<>>(meta::RequestContext ctx)> authorize_create;
  /// Checks whether the user may delete an object that cannot be read. If empty, no user may.
  std::function<Task<meta::Result<>>(meta::RequestContext ctx)> authorize_unsafe_delete;
  /// Runs large requests (lib/endpoint/write/large_requests.h). If empty, they run on the thread that received them.
  boost::asio::any_io_executor large_requests;
  /// The duration of a watch without timeoutSeconds is between this value and twice this value.
  std::chrono::seconds min_request_timeout{1800};
  /// How many objects of a collection are deleted at the same time. Values below 1 count as 1.
  int delete_collection_workers = 1;
  bool watch_list = true;            // watches may begin with all existing objects and a bookmark (sendInitialEvents)
  bool storage_version_hash = true;  // discovery has the hash of the version in which a resource is stored
};
using EnvironmentPtr = std::shared_ptr<const Environment>;

}  // namespace apimesh::endpoint
