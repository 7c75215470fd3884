#include "services/aggregator/watches/watch_query.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/endpoint/query.h"
#include "lib/meta/query.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kOfOneClient[] = {"resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds",
                                             "timeout", "allowWatchBookmarks"};

bool IsOfOneClient(std::string_view pair) {
  const std::optional<std::string> name = meta::PercentDecode(pair.substr(0, pair.find('=')), true);
  return name && std::find(std::begin(kOfOneClient), std::end(kOfOneClient), *name) != std::end(kOfOneClient);
}

}  // namespace

std::string WatchQuery::From(std::uint64_t place, bool bookmarks) const {
  return fmt::format("{}{}resourceVersion={}&allowWatchBookmarks={}", rest, rest.empty() ? "" : "&", place, bookmarks);
}

std::optional<WatchQuery> ReadWatchQuery(const rpc::Request& request) {
  const std::string_view accept = request.Header("accept");
  if (accept.find("as=Table") != std::string_view::npos) return std::nullopt;
  WatchQuery query;
  for (std::string_view left = request.query; !left.empty();) {
    const std::string_view pair = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), pair.size() + 1));
    if (pair.empty() || IsOfOneClient(pair)) continue;
    if (!query.rest.empty()) query.rest += '&';
    query.rest += pair;
  }
  query.wants_bookmarks = endpoint::Query(request.query).Bool("allowWatchBookmarks").value_or(false);
  query.identity = fmt::format("{}?{} {}", request.path, query.rest, accept);
  return query;
}

}  // namespace apimesh::aggregator
