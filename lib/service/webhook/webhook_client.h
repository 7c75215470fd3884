#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/http/client.h"
#include "lib/service/service_resolver.h"
#include "lib/tracing/span.h"

namespace apimesh::service {

/// How a client authenticates itself to a webhook. By default, it does not.
struct WebhookCredentials {
  http::Headers headers;                               // Authorization, Impersonate-User
  std::string cert_file, key_file, cert_pem, key_pem;  // the client certificate; see net::ClientTlsOptions
  bool operator==(const WebhookCredentials&) const = default;
};

/// How a webhook is reached: the clientConfig of a webhook configuration or of a CustomResourceDefinition.
struct WebhookConfig {
  std::string url;                          // clientConfig.url; empty: `service` is used
  std::optional<ServiceReference> service;  // clientConfig.service
  std::string path;                         // clientConfig.service.path
  std::string ca_pem;                       // clientConfig.caBundle, decoded; empty: the system's CAs
  WebhookCredentials credentials;
  std::string user_agent;                                       // empty: that of the mesh
  std::size_t max_response_bytes = 64U << 20;                   // a list of objects may be converted at once
  bool sends_timeout = true;                                    // as the parameter `timeout`
  http::Network network_of_url = http::Network::kControlPlane;  // a service is in the network of the cluster
  bool operator==(const WebhookConfig&) const = default;
};

/// Reads a clientConfig object of the API. A caBundle of white space counts as empty, and the port is 443 by default.
WebhookConfig ReadWebhookConfig(const boost::json::object& client_config);

/// Returns the host and port by which credentials are chosen: "name.namespace.svc:443", or those of the URL.
std::string HostPortOf(const WebhookConfig& config);

/// What the client needs besides the address of the webhook. Clients of one server share it.
struct WebhookSources {
  const Clock& clock;
  /// Returns the address for one request to a service. See ResolveService().
  std::function<Task<meta::Result<std::string>>(ServiceReference service)> resolve;
  std::function<std::shared_ptr<http::Client>(http::ClientOptions options)> http_client = &http::NewClient;
};

/// The outcome of a request to a webhook.
struct WebhookResponse {
  int code = 0;  // the HTTP status; 0 if there is no response
  std::string body;
  std::string content_type;
  /// "" if the status is between 200 and 206 and the body is not empty; otherwise the text that kube-apiserver reports.
  std::string error;
  http::ClientError::Code failure = http::ClientError::Code::kUnknown;  // if there is no response

  /// Whether the webhook has accepted the request. For callers that do not need a body.
  bool Accepted() const { return code >= 200 && code <= 206; }
};

/// Sends JSON to one webhook over HTTPS, keeping connections alive. Thread-safe.
class WebhookClient {
 public:
  WebhookClient(WebhookConfig config, WebhookSources sources);

  const WebhookConfig& Config() const { return config_; }
  /// Sends a POST and returns the body of the response. Errors have the text that kube-apiserver reports for the same
  /// failure (`Post "https://…": dial tcp …`). A status outside of 200 to 206 is an error, and so is an empty body.
  /// `timeout` is also sent as the parameter `timeout`, in whole seconds.
  Task<http::ClientResult<std::string>> Post(std::string body, std::chrono::seconds timeout) const;
  /// The same until a point in time. The parameter `timeout` is rounded up to whole seconds.
  /// `trace` is of the request on whose behalf the webhook is called.
  Task<WebhookResponse> PostUntil(std::string body, SteadyTime deadline, tracing::Carrier trace) const;
  /// The same on behalf of no request.
  Task<WebhookResponse> PostUntil(std::string body, SteadyTime deadline) const;

 private:
  const WebhookConfig config_;
  const WebhookSources sources_;
  const std::shared_ptr<http::Client> client_;
};

/// Returns the message of client-go for a response with an error status.
std::string RestErrorMessage(int code, std::string_view content_type, std::string_view body);

}  // namespace apimesh::service
