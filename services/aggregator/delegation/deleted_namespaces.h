#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// The namespaces whose deletion this process has answered recently. The caches of the processes that store objects may
/// not know of such a deletion yet, so requests in these namespaces are marked (mesh::kDeletedNamespaceHeader).
/// Thread-safe.
class DeletedNamespaces {
 public:
  /// As long as kube-apiserver remembers its deletions.
  static constexpr Duration kRemembered = std::chrono::seconds(30);

  void Add(const std::string& name, SteadyTime now);
  /// Costs one atomic read if no namespace was deleted recently.
  bool Contains(const std::string& name, SteadyTime now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, SteadyTime> until_;          // guarded by mutex_
  std::atomic<SteadyTime> last_{SteadyTime::min()};  // when the last one is forgotten
};

}  // namespace apimesh::aggregator
