#include "services/store/mvcc/range.h"

#include <algorithm>
#include <vector>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/mvcc/wire.h"

namespace apimesh::store {
namespace {

using etcdserverpb::RangeRequest;

bool HasFilter(const RangeRequest& request) {
  return request.min_mod_revision() != 0 || request.max_mod_revision() != 0 || request.min_create_revision() != 0 ||
         request.max_create_revision() != 0;
}

bool MatchesRevisionFilters(const RangeRequest& request, const KeyVersion& version) {
  const Revision mod = version.id.main;
  if (request.max_mod_revision() != 0 && mod > request.max_mod_revision()) return false;
  if (request.min_mod_revision() != 0 && mod < request.min_mod_revision()) return false;
  if (request.max_create_revision() != 0 && version.create > request.max_create_revision()) return false;
  return request.min_create_revision() == 0 || version.create >= request.min_create_revision();
}

template <class Project>
void SortBy(std::vector<Change>& found, bool descending, Project project) {
  if (descending) {
    std::ranges::stable_sort(found, std::ranges::greater{}, project);
  } else {
    std::ranges::stable_sort(found, std::ranges::less{}, project);
  }
}

void Sort(const RangeRequest& request, std::vector<Change>& found) {
  const bool by_key = request.sort_target() == RangeRequest::KEY;
  // Keys are already in order. Other targets are sorted in ascending order by default.
  if (by_key && request.sort_order() != RangeRequest::DESCEND) return;
  const bool descending = request.sort_order() == RangeRequest::DESCEND;
  switch (request.sort_target()) {
    case RangeRequest::KEY: return SortBy(found, descending, &Change::key);
    case RangeRequest::VERSION: return SortBy(found, descending, &Change::version);
    case RangeRequest::CREATE: return SortBy(found, descending, &Change::create);
    case RangeRequest::MOD: return SortBy(found, descending, [](const Change& c) { return c.id.main; });
    case RangeRequest::VALUE: return SortBy(found, descending, &Change::value);
    default: return;
  }
}

}  // namespace

Status ExecuteRange(const Store& store, const RangeRequest& request, Revision newest, std::string_view header,
                    std::string& out) {
  const Revision revision = request.revision() > 0 ? request.revision() : newest;
  if (revision > newest) return errors::FutureRevision();
  if (request.revision() > 0 && revision < store.Compacted()) return errors::Compacted();

  const bool filtered = HasFilter(request);
  // As in etcd, a target without an order is sorted, too, but only the first keys within the limit and one more.
  const bool sorted = request.sort_order() != RangeRequest::NONE;
  const std::size_t limit = request.limit() > 0 ? static_cast<std::size_t>(request.limit()) : SIZE_MAX;
  const std::size_t wanted = filtered || sorted || limit == SIZE_MAX ? SIZE_MAX : limit + 1;
  const bool values = !request.keys_only() || request.sort_target() == RangeRequest::VALUE;

  std::int64_t count = 0;
  std::vector<Change> found;
  std::string_view page_end;
  const bool to_the_end = request.range_end() == std::string_view("\0", 1);
  const bool holds_its_key = to_the_end || request.key() < request.range_end();
  const bool counts_a_range = request.count_only() && !request.range_end().empty() && holds_its_key;
  if (counts_a_range) page_end = request.key();
  // To count a range, only its first key is read here; the tree counts the rest.
  store.index().Walk(
      request.key(), counts_a_range ? std::string() : request.range_end(), [&](const KeyIndex::Entry& entry) {
        const KeyVersion* version = entry.At(revision);
        if (version == nullptr) return true;
        ++count;
        if (request.count_only() || (filtered && !MatchesRevisionFilters(request, *version))) return true;
        found.push_back({version->id, false, entry.key, {}, version->create, version->version, version->lease});
        if (found.size() < wanted) return true;
        page_end = entry.key;
        return false;
      });
  if (!page_end.empty()) count += store.index().CountAfter(page_end, request.range_end(), revision);
  const bool in_place = request.sort_target() == RangeRequest::KEY;
  // The values of the others are not needed.
  if (wanted != SIZE_MAX && found.size() > limit && in_place) found.resize(limit);
  const bool more = wanted != SIZE_MAX && !request.count_only() && count > static_cast<std::int64_t>(limit);
  if (values) {
    for (Change& change : found) change.value = store.ValueOf(change.id);
  }
  Sort(request, found);
  const bool truncated = found.size() > limit;
  if (truncated) found.resize(limit);

  std::size_t size = header.size() + 32;
  for (Change& change : found) {
    if (request.keys_only()) change.value = {};
    size += wire::KeyValueSize(change) + 6;
  }
  out.reserve(out.size() + size);
  wire::AppendMessage(out, 1, header);
  for (const Change& change : found) wire::AppendKeyValue(out, 2, change);
  wire::AppendBool(out, 3, more || truncated);
  wire::AppendInteger(out, 4, count);
  return {};
}

}  // namespace apimesh::store
