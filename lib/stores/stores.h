#pragma once

#include <memory>
#include <vector>

#include "lib/etcd/client.h"
#include "lib/service/runtime.h"
#include "lib/storage/backend.h"

namespace apimesh::stores {

/// What a server keeps its objects in.
struct Stores {
  /// Opens a resource in the etcd that is meant for it.
  std::shared_ptr<storage::Backend> backend;
  std::shared_ptr<etcd::Client> client;                   // of --etcd-servers
  std::vector<std::shared_ptr<etcd::Client>> overridden;  // of --etcd-servers-overrides, each set of servers once
};

/// By its flags; encrypted if they say so, with the health check of that ("kms-providers", where there are some or may be after a
/// reload). Ends with `runtime`. Throws std::exception if a flag or the file of --encryption-provider-config is wrong.
Stores OpenStores(const service::EtcdFlags& flags, service::Runtime& runtime);

}  // namespace apimesh::stores
