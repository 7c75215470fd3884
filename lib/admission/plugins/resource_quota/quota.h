#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/admission/objects/objects.h"
#include "lib/admission/plugins/resource_quota/scopes.h"
#include "lib/admission/pod_resources.h"

namespace apimesh::admission::resource_quota {

/// A ResourceQuota in the form in which requests are checked against it. The limits are those of its status, because
/// usage is known only for these: the quota controller writes both together. Immutable.
struct Quota {
  std::string name;
  std::uint64_t version = 0;  // resourceVersion, which grows with every write
  Amounts hard;
  Amounts used;
  std::vector<ScopeRequirement> scopes;
  ObjectPtr object;
};
using QuotaPtr = std::shared_ptr<const Quota>;

QuotaPtr ReadQuota(ObjectPtr object);
/// Returns the quota as JSON with other usage in its status, for a write of the status.
std::string WithUsage(const Quota& quota, const Amounts& used);

/// Returns "cpu=1,memory=2Gi" and "cpu,memory", sorted by name, as in errors of kube-apiserver.
std::string ToString(const Amounts& amounts);
std::string ToString(std::vector<std::string> names);

}  // namespace apimesh::admission::resource_quota
