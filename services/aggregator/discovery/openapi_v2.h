#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "lib/base/async/task.h"
#include "lib/base/bytes.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// /openapi/v2: one document for all delegates. It is fetched and merged at the first request, and again after a
/// delegate's description has changed or if a delegate did not answer. Thread-safe.
class OpenApiV2 {
 public:
  struct Document {
    SharedBytes json;
    SharedBytes protobuf;  // used by kubectl
    std::string etag;
  };
  Task<Document> Get(RoutesPtr routes, mesh::Request like);

 private:
  std::mutex mutex_;
  std::string key_;    // guarded by mutex_: the etags of the descriptions that the document was built from
  Document document_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
