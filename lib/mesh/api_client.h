#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/kubernetes_version.h"
#include "lib/meta/object.h"

namespace apimesh::mesh {

/// The user of requests that a process of the mesh sends on its own behalf: system:apiserver in group system:masters.
meta::UserInfo ServerUser();

/// A request that a process of the mesh sends on its own behalf.
struct ApiRequest {
  std::string method = "GET";
  std::string path;
  std::string query = {};  // URL-encoded
  std::string body = {};
  std::string content_type = "application/json";  // of the body; not sent with GET
  meta::UserInfo user = ServerUser();
  std::string user_agent = meta::OwnUserAgent();
  SteadyTime deadline = SteadyTime::max();
  /// If set, receives the function that cancels the request. Only lists can be cancelled.
  std::function<void(std::function<void()>)> on_cancel = nullptr;
};

/// Returns the request in the format of the mesh. It accepts only JSON.
Request ToRequest(ApiRequest request);

/// Decodes the object of a response. An error of the server is returned as such. `what` names the request in the error
/// of a response that is not JSON.
meta::Result<meta::Object> ReadObject(const Response& response, std::string_view what);

/// Moves the items out of a list.
std::vector<meta::Object> TakeItems(meta::Object& list);

/// Requests objects from one API server of the mesh, which may be this process (lib/mesh/in_process.h). Nothing is
/// retried. Thread-safe; the client must outlive its requests.
class ApiClient {
 public:
  explicit ApiClient(std::shared_ptr<DelegateClient> server) : server_(std::move(server)) {}

  /// Returns the complete response. Lists are requested by Stream() and everything else by Call(). A list that ends
  /// early is a 503. Watches and connections are not supported.
  Task<Response> Send(ApiRequest request) const;
  /// Returns the object in the response. If the server answers with an error, that error is returned.
  Task<meta::Result<meta::Object>> SendForObject(ApiRequest request) const;
  /// Requests a list and returns its items.
  Task<meta::Result<std::vector<meta::Object>>> ListItems(ApiRequest request) const;

 private:
  const std::shared_ptr<DelegateClient> server_;
};

}  // namespace apimesh::mesh
