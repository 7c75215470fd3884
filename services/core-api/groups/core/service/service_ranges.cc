#include "services/core-api/groups/core/service/service_ranges.h"

#include <algorithm>

#include "lib/codec/codec.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool IsReady(const json::object& cidr) {
  if (!meta::FindString(cidr, "metadata", "deletionTimestamp").empty()) return false;
  for (const json::object& condition : Objects(meta::Find(cidr, "status", "conditions"))) {
    if (meta::FindString(condition, "type") == "Ready") return meta::FindString(condition, "status") == "True";
  }
  return true;  // without kube-controller-manager, nothing sets the condition
}

/// Adds the ranges of one object.
void AddRanges(const json::object& cidr, std::string_view family, std::vector<IpRange>& ranges) {
  const json::value* list = meta::Find(cidr, "spec", "cidrs");
  if (!list || !list->is_array()) return;
  for (const json::value& text : list->get_array()) {
    const std::optional<IpRange> range = text.is_string() ? IpRange::Parse(text.get_string()) : std::nullopt;
    if (range && (family.empty() || range->Family() == family)) ranges.push_back(*range);
  }
}

}  // namespace

Task<meta::Result<std::vector<IpRange>>> ServiceRanges(meta::RequestContext ctx, storage::StorePtr store,
                                                       std::vector<IpRange> configured, std::string_view family,
                                                       CidrState state) {
  std::erase_if(configured, [&](const IpRange& range) { return !family.empty() && range.Family() != family; });
  if (!store) co_return configured;
  storage::ListOptions options;
  options.resource_version = "0";
  ASSIGN_OR_CO_RETURN(const std::unique_ptr<storage::ListCursor> cursor, co_await store->List(ctx, options));
  std::vector<IpRange> ranges;
  bool any = false;
  for (std::vector<storage::EntryPtr> entries; !(entries = cursor->Next(100)).empty();) {
    for (const storage::EntryPtr& entry : entries) {
      any = true;
      const meta::Result<json::value> parsed = codec::ParseJson(entry->JsonText(), meta::NewArena());
      if (!parsed || !parsed->is_object()) continue;
      if (state == CidrState::kAny || IsReady(parsed->get_object())) AddRanges(parsed->get_object(), family, ranges);
    }
  }
  if (!any) co_return configured;
  const auto is_configured = [&](const IpRange& range) {
    return std::find(configured.begin(), configured.end(), range) != configured.end();
  };
  std::stable_partition(ranges.begin(), ranges.end(), is_configured);
  co_return ranges;
}

bool AnyContains(const std::vector<IpRange>& ranges, std::string_view ip) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const IpRange& range) { return range.Contains(ip); });
}

}  // namespace apimesh::core_api
