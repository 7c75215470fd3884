#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/bytes.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// The documents of /api and /apis, written once for each change of what is served. Immutable.
class DiscoveryDocuments {
 public:
  struct Document {
    SharedBytes json;
    std::string etag;  // of those that clients ask for again and again: the aggregated ones and the index; "": none
  };
  /// `server_address` is what /api tells clients: "host:port".
  DiscoveryDocuments(const Routes& routes, const std::string& server_address);

  /// "/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1": null if there is no such document.
  const Document* Find(const std::string& path) const;
  /// The aggregated forms (APIGroupDiscoveryList) of "/api" and "/apis".
  const Document& AggregatedCore() const { return aggregated_core_; }
  const Document& AggregatedGroups() const { return aggregated_groups_; }
  /// /openapi/v3: where to find the document of each group-version.
  const Document& OpenApiIndex() const { return openapi_index_; }
  /// The paths of all group-versions, for the index page.
  std::vector<std::string> Paths() const;

 private:
  std::map<std::string, Document, std::less<>> documents_;
  Document aggregated_core_, aggregated_groups_, openapi_index_;
};

/// How a client wants discovery: in one piece (version v2), or group by group. Its first choice that we have.
enum class DiscoveryForm { kLegacy, kAggregatedV2 };
DiscoveryForm NegotiateDiscovery(std::string_view accept);

}  // namespace apimesh::aggregator
