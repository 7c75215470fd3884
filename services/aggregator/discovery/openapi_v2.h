#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/task.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// /openapi/v2: one document for all delegates. Fetched and merged when first asked for, and again only after one of
/// them has changed. Thread-safe.
class OpenApiV2 {
 public:
  struct Document {
    SharedBytes json;
    SharedBytes protobuf;  // what kubectl asks for
    std::string etag;
  };
  Task<Document> Get(RoutesPtr routes, rpc::Request like);

 private:
  std::mutex mutex_;
  std::string key_;    // guarded by mutex_: the descriptions that the document is made from
  Document document_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
