#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/admission/expressions/match_conditions.h"
#include "lib/admission/matching/criteria.h"
#include "lib/admission/webhooks/breaker.h"
#include "lib/admission/webhooks/review.h"
#include "lib/service/webhook/webhook_client.h"

namespace apimesh::admission::webhooks {

enum class Type { kMutating, kValidating };

/// One webhook of a configuration, compiled. Immutable and thread-safe, apart from its breaker.
struct Webhook {
  std::string configuration;  // the name of the configuration
  std::string name;
  std::string id;  // distinguishes webhooks of the same name
  matching::Criteria criteria;
  MatchConditions conditions;
  bool fails_open = false;             // the failure policy is Ignore
  std::optional<bool> allows_dry_run;  // nullopt: `sideEffects` is not set
  bool reinvoked_if_needed = false;    // mutating webhooks only
  std::optional<std::chrono::seconds> timeout;
  std::optional<ReviewVersion> version;  // nullopt: it accepts no known version
  /// If an administrator has suspended the failure policy of the configuration (bypass.h): until when.
  std::optional<WallTime> bypassed_until;
  std::shared_ptr<const service::WebhookClient> client;
  std::shared_ptr<Breaker> breaker;
};
using WebhookPtr = std::shared_ptr<const Webhook>;

/// What the compilation of webhooks needs.
struct CompileInputs {
  Type type = Type::kMutating;
  /// Returns the client for a clientConfig. Equal ones share a client and its connections.
  std::function<std::shared_ptr<const service::WebhookClient>(service::WebhookConfig config)> client;
  service::Metrics* metrics = nullptr;
  const Clock* clock = nullptr;
};

/// Compiles all webhooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, in order. `known` are the
/// webhooks of an earlier state of the same configuration, whose breakers are kept.
std::vector<WebhookPtr> CompileWebhooks(const meta::Object& configuration, const CompileInputs& inputs,
                                        const std::vector<WebhookPtr>& known);

}  // namespace apimesh::admission::webhooks
