#include "services/aggregator/watches/watch_query.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/endpoint/input/query.h"
#include "lib/meta/selectors/query.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kPerClientParameters[] = {
    "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "timeout", "allowWatchBookmarks"};

bool IsPerClient(std::string_view pair) {
  const std::optional<std::string> name = meta::PercentDecode(pair.substr(0, pair.find('=')), true);
  if (!name) return false;
  const auto end = std::end(kPerClientParameters);
  return std::find(std::begin(kPerClientParameters), end, *name) != end;
}

}  // namespace

std::string WatchQuery::From(std::uint64_t position, bool bookmarks) const {
  const std::string_view separator = rest.empty() ? "" : "&";
  return fmt::format("{}{}resourceVersion={}&allowWatchBookmarks={}", rest, separator, position, bookmarks);
}

std::optional<WatchQuery> ReadWatchQuery(const mesh::Request& request) {
  const std::string_view accept = request.Header("accept");
  if (accept.find("as=Table") != std::string_view::npos) return std::nullopt;
  WatchQuery query;
  for (std::string_view left = request.query; !left.empty();) {
    const std::string_view pair = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), pair.size() + 1));
    if (pair.empty() || IsPerClient(pair)) continue;
    if (!query.rest.empty()) query.rest += '&';
    query.rest += pair;
  }
  query.wants_bookmarks = endpoint::Query(request.query).Bool("allowWatchBookmarks").value_or(false);
  query.wants_initial_events = endpoint::Query(request.query).Bool("sendInitialEvents").value_or(false);
  query.identity = fmt::format("{}?{} {}", request.path, query.rest, accept);
  return query;
}

}  // namespace apimesh::aggregator
