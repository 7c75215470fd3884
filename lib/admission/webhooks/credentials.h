#pragma once

#include <map>
#include <optional>
#include <string>

#include "lib/service/webhook/webhook_client.h"

namespace apimesh::admission::webhooks {

/// The credentials with which the server authenticates itself to webhooks: the users of a kubeconfig file, which are
/// named after the webhook servers. Immutable.
class Credentials {
 public:
  /// Without a file, the server does not authenticate itself.
  Credentials() = default;
  /// Reads the section of a webhook plugin in the configuration file (WebhookAdmissionConfiguration), which names the
  /// kubeconfig file. Throws std::invalid_argument with the message of kube-apiserver if one of them is wrong.
  static Credentials FromSection(const std::optional<std::string>& section);
  /// Reads a kubeconfig file. Relative paths in it are relative to its directory.
  static Credentials FromKubeconfig(const std::string& path);

  /// Returns the credentials for a server such as "name.namespace.svc:443". The most specific user is chosen: that
  /// name, then a name that starts with "*." and matches, the same without port 443, the user "*", and the user of the
  /// current context.
  service::WebhookCredentials For(const std::string& host_port) const;

 private:
  const service::WebhookCredentials* FindByName(const std::string& name) const;

  std::map<std::string, service::WebhookCredentials> users_;
  std::string current_user_;  // of the current context; "" if there is none
};

}  // namespace apimesh::admission::webhooks
