#pragma once

#include "lib/endpoint/request.h"
#include "lib/registry/before_write.h"

namespace apimesh::endpoint {

struct Deleted {
  bool gone = false;              // not only marked
  bool pending = false;           // it was being deleted already; nothing changed
  storage::EntryPtr entry;        // the last state; nullptr for a dry run
  meta::Object object;            // the same, parsed, where it was marked or for a dry run
};

/// Deletes or marks one object: preconditions, grace period, finalizers and admission. `name` and `ns` may be those of an
/// item of a collection.
Task<meta::Result<Deleted>> DeleteOne(RequestPtr request, std::string ns, std::string name, registry::DeleteOptions options,
                                      std::shared_ptr<const meta::json::object> document);

/// From the body, or without one from the query.
struct ParsedDeleteOptions {
  registry::DeleteOptions options;
  std::shared_ptr<const meta::json::object> document;  // for admission
};
meta::Result<ParsedDeleteOptions> ParseDeleteOptions(const ResourceRequest& request);

}  // namespace apimesh::endpoint
