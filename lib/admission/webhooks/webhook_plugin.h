#pragma once

#include "lib/admission/webhooks/caller.h"
#include "lib/admission/webhooks/clients.h"
#include "lib/admission/webhooks/configurations.h"

namespace apimesh::admission::webhooks {

/// What both webhook plugins have in common: the configurations, and the decision whether the plugin runs. Thread-safe.
class WebhookPlugin : public Plugin {
 public:
  WebhookPlugin(const PluginInputs& inputs, Type type);

  /// Returns true if a webhook could match, and also as long as the configurations are not known.
  bool Handles(Phase phase, const Attributes& attributes) const override;

 protected:
  /// Returns the webhooks once they are known. If they do not become known in time, the request is rejected.
  Task<meta::Result<std::shared_ptr<const WebhookList>>> WaitForWebhooks(meta::RequestContext ctx,
                                                                         const Attributes& attributes) const;
  const Caller& GetCaller() const { return caller_; }

 private:
  void ReportFailing(service::Metrics& metrics, const Clock& clock) const;

  const Phase phase_;
  const Caller caller_;
  const std::shared_ptr<Clients> clients_;
  const std::shared_ptr<const Configurations> configurations_;
};

}  // namespace apimesh::admission::webhooks
