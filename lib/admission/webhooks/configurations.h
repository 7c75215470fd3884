#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/admission/matching/rule_index.h"
#include "lib/admission/objects/objects.h"
#include "lib/admission/webhooks/webhook.h"

namespace apimesh::admission::webhooks {

/// All webhooks of one type, ordered by the name of their configuration and then by their position in it. Immutable.
struct WebhookList {
  std::vector<WebhookPtr> webhooks;
  matching::RuleIndex index;  // by the position in `webhooks`
};

/// Follows the webhook configurations of the cluster. A configuration is compiled once per change. Thread-safe.
class Configurations {
 public:
  /// Subscribes to `resource`. If `objects` is nullptr, the configurations are never synced.
  Configurations(const ObjectsPtr& objects, const meta::Gvr& resource, CompileInputs inputs);

  /// Returns whether all configurations that existed when this process started are known.
  bool Synced() const;
  /// Waits until Synced() is true, but at most 10 s and not longer than the request. Returns whether it is.
  Task<bool> WaitUntilSynced(meta::RequestContext ctx) const;

  std::shared_ptr<const WebhookList> Current() const;

 private:
  void Apply(const Change& change);

  const CompileInputs inputs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<WebhookPtr>> by_configuration_;  // guarded by mutex_
  mutable std::shared_ptr<const WebhookList> list_;                  // guarded by mutex_; nullptr: out of date
  mutable std::atomic<bool> synced_{false};
  std::unique_ptr<Subscription> subscription_;  // the last member: it calls Apply() until it is destroyed
};

}  // namespace apimesh::admission::webhooks
