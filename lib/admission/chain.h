#pragma once

#include <memory>
#include <vector>

#include "lib/admission/plugin.h"

namespace apimesh::admission {

/// The plugins of one server, in run order. Immutable, so it is shared by all resources and threads.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::unique_ptr<Plugin>> plugins) : plugins_(std::move(plugins)) {}

  /// Every plugin may change attributes.object; the first error ends it.
  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) const;
  /// After the last change: every plugin may refuse.
  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
};
using ChainPtr = std::shared_ptr<const Chain>;

}  // namespace apimesh::admission
