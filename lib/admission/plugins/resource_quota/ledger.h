#pragma once

#include <vector>

#include "lib/admission/plugins/resource_quota/configuration.h"
#include "lib/admission/plugins/resource_quota/demand.h"
#include "lib/admission/plugins/resource_quota/quota.h"

namespace apimesh::admission::resource_quota {

/// The quotas of one namespace, and what would be used of them after the writes that were charged. Nothing is stored.
class Ledger {
 public:
  explicit Ledger(std::vector<QuotaPtr> quotas);

  /// Charges a write to all quotas that count it. Returns whether the usage of any of them changed, or the error of
  /// kube-apiserver if the write does not fit into one of them, in which case nothing is charged. A dry run is checked
  /// and not charged. `limited` are the resources for which a quota must exist.
  meta::Result<bool> Charge(const Demand& demand, const std::vector<LimitedResource>& limited);

  struct Entry {
    QuotaPtr quota;
    Amounts used;
    bool changed = false;
  };
  const std::vector<Entry>& Entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace apimesh::admission::resource_quota
