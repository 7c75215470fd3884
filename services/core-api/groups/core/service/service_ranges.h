#pragma once

#include <string_view>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/meta/request/request_context.h"
#include "lib/storage/store.h"
#include "services/core-api/groups/core/service/ip_range.h"

/// The ranges of the ServiceCIDR objects.
namespace apimesh::core_api {

/// Which ServiceCIDRs count. An address can be allocated from one that is ready and is not being deleted. A service may
/// keep an address of any of them.
enum class CidrState { kReady, kAny };

/// Returns the ranges of a family ("" for both) in the order in which addresses are allocated from them: those in
/// `configured` first, then by the names of the objects. If there is no ServiceCIDR at all, which is the case until the
/// server has created its own, returns `configured`. `store` may be nullptr.
Task<meta::Result<std::vector<IpRange>>> ServiceRanges(meta::RequestContext ctx, storage::StorePtr store,
                                                       std::vector<IpRange> configured, std::string_view family,
                                                       CidrState state);

/// Whether the address is in one of the ranges.
bool AnyContains(const std::vector<IpRange>& ranges, std::string_view ip);

}  // namespace apimesh::core_api
