#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/bytes.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// The documents of /api and /apis for one state of the routes. The documents of a group are shared with the previous
/// state if the group has not changed; those that cover all groups are built when they are first requested. So one more
/// definition costs little if there are thousands. Thread-safe.
class DiscoveryDocuments {
 public:
  struct Document {
    SharedBytes json;
    std::string etag;  // only for aggregated discovery and the OpenAPI index; "": none
  };
  /// `server_address` is the "host:port" that /api reports to clients. `before` is the previous state or nullptr.
  DiscoveryDocuments(const Routes& routes, const std::string& server_address, const DiscoveryDocuments* before);

  /// Returns the document of a path such as "/api", "/apis", "/apis/apps", "/apis/apps/v1" or "/api/v1", or nullptr if
  /// there is none.
  const Document* Find(std::string_view path) const;
  /// Whether a server must be asked about this path, for which Find() has no document: a server outside the mesh
  /// answers it, it is no path of discovery, or a server of the chain has not been described yet.
  bool IsForwarded(std::string_view path) const;
  /// The aggregated discovery (APIGroupDiscoveryList) of "/api" and "/apis". Equal documents have equal ETags in all
  /// processes.
  const Document& AggregatedCore() const;
  const Document& AggregatedGroups() const;
  /// /openapi/v3: the index with the URL of each group-version's document.
  const Document& OpenApiIndex() const;
  /// The paths of all group-versions, for the index page.
  std::vector<std::string> Paths() const;

 private:
  struct Group;
  using GroupPtr = std::shared_ptr<const Group>;
  /// A document that is built once, by the first reader.
  struct Lazy {
    std::once_flag once;
    Document document;
  };
  template <class Make>
  static const Document& Built(Lazy& lazy, Make make) {
    std::call_once(lazy.once, [&] { lazy.document = make(); });
    return lazy.document;
  }
  Document Aggregated(bool core) const;

  const std::string server_address_;
  const bool complete_;           // all servers of the chain are described
  std::vector<GroupPtr> groups_;  // in the order of the documents
  std::unordered_map<std::string_view, GroupPtr> by_name_;
  mutable Lazy versions_, group_list_, aggregated_core_, aggregated_groups_, openapi_index_;
};

/// The discovery format that a client accepts: aggregated (v2) or one document per group. NegotiateDiscovery returns
/// the client's first choice that is supported.
enum class DiscoveryForm { kLegacy, kAggregatedV2 };
DiscoveryForm NegotiateDiscovery(std::string_view accept);

}  // namespace apimesh::aggregator
