#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"
#include "lib/net/tls/tls_options.h"
#include "lib/service/webhook/webhook_client.h"

namespace apimesh::service {

/// The address and credentials of a webhook, from the current context of a kubeconfig file.
struct WebhookEndpoint {
  std::string url;
  net::ClientTlsOptions tls;
  std::string authorization;  // value of the Authorization header, or ""
};
/// Relative paths in the file are resolved against `folder`.
meta::Result<WebhookEndpoint> ParseKubeconfig(std::string_view text, const std::string& folder);
meta::Result<WebhookEndpoint> ReadKubeconfig(const std::string& path);

/// The credentials of all users in a kubeconfig file.
struct KubeconfigUsers {
  std::map<std::string, WebhookCredentials> users;  // by name
  std::string current;                              // the user of the current context; "" if there is none
};
meta::Result<KubeconfigUsers> ParseKubeconfigUsers(std::string_view text, const std::string& folder);

}  // namespace apimesh::service
