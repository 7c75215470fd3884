#pragma once

#include <string>
#include <string_view>

#include "lib/http/client.h"
#include "lib/meta/api_error.h"

namespace apimesh::authn_authz {

/// Where a webhook is and how to show who we are: the current context of a kubeconfig file.
struct WebhookEndpoint {
  std::string url;
  http::ClientOptions client;
  std::string authorization;  // value of that header, or ""
};
/// Relative paths in the file are relative to `folder`.
meta::Result<WebhookEndpoint> ParseKubeconfig(std::string_view text, const std::string& folder);
meta::Result<WebhookEndpoint> ReadKubeconfig(const std::string& path);

}  // namespace apimesh::authn_authz
