#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/admission/plugins/resource_quota/ledger.h"
#include "lib/admission/plugins/resource_quota/quotas.h"
#include "lib/base/async/wakeup.h"

namespace apimesh::admission::resource_quota {

/// Charges writes to the quotas of their namespaces. The writes of a namespace that arrive while a batch is being
/// charged form the next batch, so that many concurrent writes cost few writes of quotas. Thread-safe.
class Batches : public std::enable_shared_from_this<Batches> {
 public:
  Batches(ObjectsPtr objects, SendRequest send, std::vector<LimitedResource> limited, const Clock* clock);

  /// Returns the quotas of the cluster.
  Quotas& GetQuotas() { return quotas_; }
  /// Charges one write, or returns the error of kube-apiserver if it does not fit.
  Task<meta::Result<>> Charge(Demand demand);

 private:
  /// A write that waits for its result.
  struct Waiter {
    explicit Waiter(Demand waiting) : demand(std::move(waiting)) {}
    const Demand demand;
    const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
    std::mutex mutex;
    std::optional<meta::Result<>> result;  // guarded by mutex
  };
  using WaiterPtr = std::shared_ptr<Waiter>;

  /// Charges batches of a namespace until none is waiting.
  Task<> Run(std::string ns);
  /// Removes and returns the writes that wait for a namespace. If there are none, Run() must end.
  std::vector<WaiterPtr> TakeWaiting(const std::string& ns);
  /// Charges a batch and sets the result of every write in it.
  Task<> ChargeAll(std::string ns, std::vector<WaiterPtr> batch);
  /// Stores the changed usage of a ledger. Returns the names of the quotas that could not be written, and the last
  /// error.
  struct Failure {
    std::vector<std::string> names;
    meta::Result<> error;
  };
  Task<Failure> Store(const Ledger& ledger);
  static void Finish(const WaiterPtr& waiter, meta::Result<> result);

  Quotas quotas_;
  const std::vector<LimitedResource> limited_;
  const Clock* const clock_;
  std::mutex mutex_;
  std::map<std::string, std::vector<WaiterPtr>> waiting_;  // guarded by mutex_; has the namespaces for which Run() runs
};

}  // namespace apimesh::admission::resource_quota
