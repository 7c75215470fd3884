#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/admission/chain_metrics.h"
#include "lib/admission/plugin.h"

namespace apimesh::admission {

/// The plugins of one server in run order. Immutable, and shared by all resources and threads.
class Chain {
 public:
  struct NamedPlugin {
    std::string name;
    std::unique_ptr<Plugin> plugin;
  };
  Chain() = default;
  /// Creates a chain without metrics.
  explicit Chain(std::vector<std::unique_ptr<Plugin>> plugins);
  /// `metrics` must outlive the chain.
  Chain(std::vector<NamedPlugin> plugins, service::Metrics& metrics, const Clock& clock);

  /// Calls the plugins in order. Each may change attributes.object. Stops at the first error. If a plugin requests it,
  /// all plugins are called a second time.
  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) const;
  /// Calls the plugins in order after all changes have been made. Each may reject the request. Stops at the first
  /// error.
  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) const;

 private:
  Task<meta::Result<>> MutateOnce(meta::RequestContext ctx, Attributes& attributes) const;
  /// The time for the metrics; not read if there are none.
  SteadyTime Now() const { return metrics_ ? clock_->Steady() : SteadyTime(); }

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::unique_ptr<ChainMetrics> metrics_;  // nullptr: none
  const Clock* clock_ = nullptr;           // set with metrics_
};
using ChainPtr = std::shared_ptr<const Chain>;

}  // namespace apimesh::admission
