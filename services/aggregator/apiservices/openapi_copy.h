#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/http/client.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::aggregator {

/// The OpenAPI documents of one group-version of a server outside the mesh, as the server sent them last. Requests of
/// clients are answered from this copy, so they depend neither on the speed nor on the availability of the server.
/// Thread-safe.
class OpenApiCopy {
 public:
  OpenApiCopy(std::string group, std::string version);

  /// Sends a GET request to the server. `etag` is sent as If-None-Match if it is not empty.
  struct Question {
    std::string path, accept, etag;
  };
  using AskFn = std::function<Task<http::ClientResult<http::ClientResponse>>(Question question)>;
  /// Requests the documents that have changed. A document stays as it was if the server does not serve it any more or
  /// sends something else than a document; the result is then the reason, otherwise "". Documents are parsed on
  /// `executor`.
  Task<std::string> Refresh(AskFn ask, boost::asio::any_io_executor executor);

  /// Answers requests for /openapi/v2 and for the document of the group-version below /openapi/v3. nullopt: the request
  /// is for another path. An unknown document is 404.
  std::optional<mesh::Response> Answer(const mesh::Request& request) const;
  /// The hash in the URL of the group-version's document; "" while there is none.
  std::string Hash() const;
  /// Changes with the document of /openapi/v2; 0 while there is none.
  std::uint64_t Version() const;

 private:
  Task<std::string> RefreshV2(const AskFn& ask, boost::asio::any_io_executor executor);
  Task<std::string> RefreshV3(const AskFn& ask, boost::asio::any_io_executor executor);

  struct Documents {
    SharedBytes v2, v3, v3_protobuf;
    std::string v2_etag;        // as the server sent it; "": the server sends none
    std::string hash;           // of v3
    std::uint64_t version = 0;  // of v2
  };
  Documents Current() const;

  const std::string group_, version_;
  const std::string v3_path_;
  mutable std::mutex mutex_;
  Documents documents_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
