#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "services/store/maintenance/metrics.h"
#include "services/store/maintenance/space_quota.h"
#include "services/store/mvcc/identity.h"
#include "services/store/mvcc/store.h"
#include "services/store/net/call.h"
#include "services/store/watch/watch_hub.h"

namespace apimesh::store {

struct Limits {
  std::size_t max_request_bytes = 1536 * 1024;
  int max_txn_operations = 128;
};

/// What the gRPC methods use. It exists as long as the server.
struct Services {
  EventLoop& loop;
  Journal& journal;
  Store& store;
  WatchHub& watches;
  SpaceQuota& quota;
  Metrics& metrics;
  const Identity& identity;
  Limits limits;
  std::filesystem::path folder;  // for temporary files of a call
};

/// Creates the handler of one call.
using Method = std::function<std::unique_ptr<CallHandler>(const CallPtr& call)>;
using Methods = std::unordered_map<std::string, Method>;

// Each function adds the methods of one of etcd's services.
void AddKvMethods(Services& services, Methods& methods);
void AddWatchMethods(Services& services, Methods& methods);
void AddLeaseMethods(Services& services, Methods& methods);
void AddClusterMethods(Services& services, Methods& methods);
void AddAuthMethods(Services& services, Methods& methods);
void AddMaintenanceMethods(Services& services, Methods& methods);
void AddSnapshotMethod(Services& services, Methods& methods);
void AddHealthMethods(Methods& methods);

/// Returns all methods by full gRPC path.
Methods AllMethods(Services& services);

}  // namespace apimesh::store
