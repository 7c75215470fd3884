#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "lib/base/async/task.h"
#include "lib/base/bytes.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// /openapi/v2: one document for all delegates. It is fetched and merged at the first request, and again after the
/// documents of a delegate have changed. While a server of the mesh does not answer, the last document is served.
/// Thread-safe.
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
  std::string key_;    // guarded by mutex_: the versions of the delegates' documents from which document_ was made
  Document document_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
