#pragma once

#include <functional>
#include <map>
#include <string>

#include "lib/base/async/task.h"
#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

struct KindInputs;

/// The health of control plane components, which are probed at the addresses where kubeadm and other installers run
/// them.
registry::Resource ComponentStatusResource(const KindInputs& inputs);

/// The result of a probe.
struct ComponentHealth {
  bool healthy = false;
  std::string message;  // "ok", or the error
};
using ComponentProbe = std::function<Task<ComponentHealth>(SteadyTime deadline)>;
/// Keyed by name: "etcd-0", "scheduler".
using ComponentProbes = std::map<std::string, ComponentProbe>;

/// Returns a store that probes the components at each read.
storage::StorePtr ComponentStatusStore(ComponentProbes probes, const Clock* clock);

}  // namespace apimesh::core_api
