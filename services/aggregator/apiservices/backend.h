#pragma once

#include <memory>
#include <string>

#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// A server outside the mesh that an APIService names, as the controller of APIServices sees it.
class Backend : public mesh::DelegateClient {
 public:
  /// The result of an availability check.
  struct State {
    std::string status = "False", reason, message;  // of the condition Available
    std::string resource_list;                      // the APIResourceList of the group-version; empty if not available
    std::string openapi_hash;                       // of the document below /openapi/v3; empty if there is none
    std::uint64_t openapi_version = 0;              // changes with the document of /openapi/v2
    std::shared_ptr<const ResourceNames> shared_watches;  // resources whose watches may be shared; nullptr: none
  };

  virtual Delegate::Kind Kind() const = 0;
  /// Checks whether the server is available. If it is not, requests are answered with 503 immediately.
  virtual Task<State> Check() = 0;
  /// Requests the OpenAPI documents of the server, if they are not part of what Check() returns. Returns the reason if
  /// it fails.
  virtual Task<std::string> RefreshOpenApi() { co_return ""; }
};

}  // namespace apimesh::aggregator
