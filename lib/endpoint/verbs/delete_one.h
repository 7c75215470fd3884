#pragma once

#include "lib/endpoint/request.h"
#include "lib/registry/before_write.h"

namespace apimesh::endpoint {

struct Deleted {
  bool gone = false;        // false: the object still exists, for example because it is only marked
  bool pending = false;     // the object was already being deleted; nothing has changed
  storage::EntryPtr entry;  // the last state; nullptr after a dry run that would delete or mark
  meta::Object object;      // the parsed object, marked if the deletion marks it
};

/// Deletes one object or marks it as being deleted: checks preconditions and the grace period, handles finalizers and
/// runs admission. `name` and `ns` may be those of an item of a collection.
Task<meta::Result<Deleted>> DeleteOne(RequestPtr request, std::string ns, std::string name,
                                      registry::DeleteOptions options,
                                      std::shared_ptr<const meta::json::object> document);

/// The options in the body or, if there is no body, in the query.
struct ParsedDeleteOptions {
  registry::DeleteOptions options;
  std::shared_ptr<const meta::json::object> document;  // for admission
};
meta::Result<ParsedDeleteOptions> ParseDeleteOptions(const ResourceRequest& request);

}  // namespace apimesh::endpoint
