#pragma once

#include <memory>

#include "lib/base/clock.h"
#include "lib/etcd/client.h"
#include "lib/features/feature_gates.h"
#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"
#include "services/core-api/connect/kubelets.h"
#include "services/core-api/flags.h"
#include "services/core-api/own_api.h"
#include "services/core-api/resources/resource_stores.h"

namespace apimesh::externaljwt {
class Signer;
}

namespace apimesh::core_api {

/// The dependencies of kinds. server.cc creates this structure once and passes it to every kind. A kind that needs
/// another dependency gets a new member here. All members may be empty: a test that calls only the strategy of a kind
/// passes `{}`. Kinds may keep copies of the members, but must not call them before the server runs.
struct KindInputs {
  Flags flags;
  features::FeatureGates features;
  std::shared_ptr<ResourceStores> stores;
  service::AuthClientPtr auth;  // authorizes users
  OwnApi api;
  KubeletsPtr kubelets;
  std::shared_ptr<http::Client> cluster_client;  // for proxied requests; see NewClusterClient()
  std::shared_ptr<etcd::Client> etcd;
  const Clock* clock = nullptr;
  std::shared_ptr<externaljwt::Signer> token_signer;  // nullptr: tokens are signed with a key file

  /// Returns the store of a built-in resource, even if another process serves it. The store can be used once the server
  /// runs. Returns nullptr without `stores`. Throws std::logic_error if there is no such resource or it stores nothing.
  storage::StorePtr StoreOf(const meta::Gvr& resource) const { return stores ? stores->Of(resource) : nullptr; }
  /// Returns a store for objects that are not an API resource (RangeAllocations). It is opened when it is first used.
  storage::StorePtr PrivateStore(storage::ResourceConfig config) const {
    return stores ? stores->Private(std::move(config)) : nullptr;
  }
};

}  // namespace apimesh::core_api
