#pragma once

#include <functional>
#include <map>
#include <string>

#include "lib/base/task.h"
#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

registry::Resource ComponentStatusResource();

/// How a component is.
struct ComponentHealth {
  bool healthy = false;
  std::string message;  // "ok", or what is wrong
};
using ComponentProbe = std::function<Task<ComponentHealth>(SteadyTime deadline)>;
/// By name: "etcd-0", "scheduler".
using ComponentProbes = std::map<std::string, ComponentProbe>;

/// A store whose objects are made by asking the components, each time.
storage::StorePtr ComponentStatusStore(ComponentProbes probes);

/// Asks a component at https://127.0.0.1:`port`/healthz.
ComponentProbe HttpProbe(int port);

}  // namespace apimesh::core_api
