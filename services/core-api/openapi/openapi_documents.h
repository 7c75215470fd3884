#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/endpoint/group_server.h"
#include "lib/schema/openapi.h"

namespace apimesh::core_api {

/// The OpenAPI documents of what this process serves. Each is made when it is first asked for, and kept. Thread-safe.
class OpenApiDocuments {
 public:
  /// Sets the hash of every version.
  explicit OpenApiDocuments(std::vector<endpoint::ServedVersion>& versions);

  /// "/openapi/v2"; "/openapi/v3/api/v1" and the like. 404 for what is not served here.
  Task<rpc::Response> Answer(rpc::Request request);

 private:
  struct Version {
    std::vector<schema::OpenApiResource> resources;
    std::string hash;
  };
  SharedBytes Document(const std::string& path);

  std::map<std::string, Version> versions_;  // by "api/v1", "apis/apps/v1"
  std::string v2_hash_;
  std::mutex mutex_;
  std::map<std::string, SharedBytes> documents_;  // by path; guarded by mutex_
};

}  // namespace apimesh::core_api
