#pragma once

#include <memory>
#include <vector>

#include "lib/etcd/client.h"
#include "lib/service/runtime.h"
#include "lib/storage/backend.h"

namespace apimesh::service {

/// The stores in which a server keeps its objects.
struct Stores {
  /// Opens each resource in the etcd that is configured for it.
  std::shared_ptr<storage::Backend> backend;
  std::shared_ptr<etcd::Client> client;                   // of --etcd-servers
  std::vector<std::shared_ptr<etcd::Client>> overridden;  // of --etcd-servers-overrides, one per distinct set of
                                                          // servers
};

/// Opens the stores that the flags configure, encrypted if the flags require it. It adds the health check
/// "kms-providers" if KMS providers are configured or a reload may add them. The stores end with `runtime`. Throws
/// std::exception if a flag or the file of --encryption-provider-config is invalid.
Stores OpenStores(const service::EtcdFlags& flags, service::Runtime& runtime);

}  // namespace apimesh::service
