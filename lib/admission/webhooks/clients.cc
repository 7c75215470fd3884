#include "lib/admission/webhooks/clients.h"

#include <fmt/format.h>

namespace apimesh::admission::webhooks {
namespace {

constexpr std::size_t kMaxResponseBytes = 16 << 20;

service::WebhookSources SourcesOf(const PluginInputs& inputs) {
  service::WebhookSources sources{.clock = *inputs.clock, .resolve = inputs.resolve_service};
  sources.http_client = inputs.http_client;
  if (!sources.resolve) {
    sources.resolve = [](service::ServiceReference) -> Task<meta::Result<std::string>> {
      co_return meta::InternalError("services cannot be resolved");
    };
  }
  return sources;
}

std::string KeyOf(const service::WebhookConfig& config) {
  const service::ServiceReference service = config.service.value_or(service::ServiceReference{});
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", config.url, service.ns, service.name, service.port, config.path,
                     config.ca_pem);
}

}  // namespace

Clients::Clients(const PluginInputs& inputs)
    : sources_(SourcesOf(inputs)), credentials_(Credentials::FromSection(inputs.section)) {}

std::shared_ptr<const service::WebhookClient> Clients::Find(service::WebhookConfig config) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const service::WebhookClient>& known = clients_[KeyOf(config)];
  if (std::shared_ptr<const service::WebhookClient> client = known.lock()) return client;
  config.user_agent = "kube-apiserver-admission";
  config.max_response_bytes = kMaxResponseBytes;
  config.credentials = credentials_.For(service::HostPortOf(config));
  auto made = std::make_shared<const service::WebhookClient>(std::move(config), sources_);
  known = made;
  return made;
}

}  // namespace apimesh::admission::webhooks
