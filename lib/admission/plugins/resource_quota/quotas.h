#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/admission/all_plugins.h"
#include "lib/admission/plugins/resource_quota/quota.h"

namespace apimesh::admission::resource_quota {

/// Reads and writes the quotas of the cluster. Follows all quotas once the first one is asked for, and remembers its
/// own writes, which may be newer than what it has read. Thread-safe.
class Quotas {
 public:
  Quotas(ObjectsPtr objects, SendRequest send, const Clock* clock);

  /// Returns false if it is certain that the namespace has no quota. This is cheap and does not wait.
  bool MayHave(const std::string& ns);
  /// Returns the quotas of a namespace, sorted by name. Read::kNewest reads them from the store.
  Task<meta::Result<std::vector<QuotaPtr>>> Of(std::string ns, Read read, SteadyTime deadline);
  /// Writes the usage of a quota. Returns a conflict if the quota has been written since it was read.
  Task<meta::Result<>> WriteUsage(QuotaPtr quota, Amounts used);

 private:
  /// The quotas as they were last seen. Shared with the subscription, which may outlive a call of this class.
  struct Table {
    std::shared_mutex mutex;
    std::map<std::string, std::map<std::string, QuotaPtr>> by_namespace;  // guarded by mutex

    void Apply(const Change& change);
    /// Replaces the quota if this version is newer. A quota that is not in the table is only added if `add`.
    void Set(ObjectPtr object, bool add);
  };
  /// Returns whether the table has all quotas. Subscribes on the first call.
  bool Synced();

  const ObjectsPtr objects_;
  const SendRequest send_;
  const Clock* const clock_;
  const std::shared_ptr<Table> table_ = std::make_shared<Table>();
  std::once_flag subscribed_;
  std::unique_ptr<Subscription> subscription_;
};

}  // namespace apimesh::admission::resource_quota
