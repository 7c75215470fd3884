#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lib/admission/all_plugins.h"
#include "lib/admission/webhooks/credentials.h"
#include "lib/service/webhook/webhook_client.h"

namespace apimesh::admission::webhooks {

/// The clients of webhooks. Webhooks with the same address and certificates share a client and its connections.
/// Thread-safe.
class Clients {
 public:
  /// Reads the section of the plugin in the configuration file. Throws std::invalid_argument if it is wrong.
  explicit Clients(const PluginInputs& inputs);

  std::shared_ptr<const service::WebhookClient> Find(service::WebhookConfig config);

 private:
  const service::WebhookSources sources_;
  const Credentials credentials_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const service::WebhookClient>> clients_;  // guarded by mutex_
};

}  // namespace apimesh::admission::webhooks
