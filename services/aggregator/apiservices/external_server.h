#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/http/client.h"
#include "lib/service/service_resolver.h"
#include "services/aggregator/apiservices/backend.h"
#include "services/aggregator/apiservices/openapi_copy.h"

namespace apimesh::aggregator {

/// How to reach the server of an APIService.
struct ExternalOptions {
  std::string group, version;
  service::ServiceReference service;
  std::string ca_pem;  // empty: the system's CAs
  bool insecure_skip_verify = false;
  std::string cert_file, key_file;  // the client certificate that makes the server trust X-Remote headers
  bool reject_redirects = true;     // false: clients receive the redirects of the server
  bool operator==(const ExternalOptions&) const = default;
};

/// A client for an API server outside the mesh that is registered by an APIService. Requests are sent over HTTPS, with
/// the user in X-Remote headers. Thread-safe.
class ExternalServer final : public Backend {
 public:
  /// `core_api` resolves the service; `endpoint_routing`: to an endpoint of it instead of its cluster IP.
  /// `openapi` has the documents that clients get; they are parsed on `parser`.
  ExternalServer(ExternalOptions options, std::shared_ptr<mesh::DelegateClient> core_api, bool endpoint_routing,
                 std::shared_ptr<OpenApiCopy> openapi, boost::asio::any_io_executor parser, const Clock& clock);

  const ExternalOptions& Options() const { return options_; }
  Delegate::Kind Kind() const override { return Delegate::Kind::kExternal; }
  /// Resolves the service and requests the discovery document.
  Task<State> Check() override;
  Task<std::string> RefreshOpenApi() override;
  Task<mesh::Response> Call(mesh::Request&& request) override;
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override;
  Task<mesh::Connection> Connect(mesh::Request request) override;
  /// Does nothing: the description comes from the APIService and the availability checks.
  std::shared_ptr<void> Describe(std::function<void(std::optional<mesh::Description>)>) override { return nullptr; }

 private:
  /// Sets the current addresses of the server. Without any, requests are answered with 503.
  void SetHosts(std::vector<std::string> hosts);
  /// Sends a GET request for the discovery document. The error message is written to the status of the APIService.
  Task<meta::Result<http::ClientResponse>> Ask(std::string path) const;
  std::string PickHost() const;

  const ExternalOptions options_;
  const std::shared_ptr<mesh::DelegateClient> core_api_;
  const bool endpoint_routing_;
  const std::shared_ptr<OpenApiCopy> openapi_;
  const boost::asio::any_io_executor parser_;
  const Clock& clock_;
  const std::shared_ptr<http::Client> client_;
  mutable std::mutex mutex_;
  std::vector<std::string> hosts_;     // guarded by mutex_
  mutable std::size_t next_host_ = 0;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
