#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/endpoint/group_server.h"
#include "lib/schema/openapi/openapi.h"

namespace apimesh::core_api {

/// The OpenAPI documents of the resources that this process serves. Each document is generated when it is first
/// requested, and then cached. Thread-safe.
class OpenApiDocuments {
 public:
  /// Sets the OpenAPI hash of every version. `descriptions_file` may be empty. `publishes_enums` is the feature gate
  /// OpenAPIEnums.
  OpenApiDocuments(std::vector<endpoint::ServedVersion>& versions, const std::string& descriptions_file,
                   bool publishes_enums = true);

  /// Answers requests for "/openapi/v2" and for paths such as "/openapi/v3/api/v1". Versions that are not served here
  /// are 404.
  Task<mesh::Response> Answer(mesh::Request request);

 private:
  struct Version {
    std::vector<schema::OpenApiResource> resources;
    std::string hash;
  };
  SharedBytes Document(const std::string& path);

  const schema::Descriptions descriptions_;
  const bool publishes_enums_;
  std::map<std::string, Version> versions_;  // keyed by "api/v1", "apis/apps/v1"
  std::string v2_hash_;
  std::mutex mutex_;
  std::map<std::string, SharedBytes> documents_;  // keyed by path; guarded by mutex_
};

}  // namespace apimesh::core_api
