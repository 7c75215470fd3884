#include "lib/admission/chain.h"

#include <utility>

namespace apimesh::admission {
namespace {

std::vector<std::string> NamesOf(const std::vector<Chain::NamedPlugin>& plugins) {
  std::vector<std::string> names;
  for (const Chain::NamedPlugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

}  // namespace

Chain::Chain(std::vector<std::unique_ptr<Plugin>> plugins) : plugins_(std::move(plugins)) {}

Chain::Chain(std::vector<NamedPlugin> plugins, service::Metrics& metrics, const Clock& clock)
    : metrics_(std::make_unique<ChainMetrics>(metrics, NamesOf(plugins))), clock_(&clock) {
  for (NamedPlugin& plugin : plugins) plugins_.push_back(std::move(plugin.plugin));
}

Task<meta::Result<>> Chain::MutateOnce(meta::RequestContext ctx, Attributes& attributes) const {
  meta::Result<> admitted;
  for (std::size_t i = 0; i < plugins_.size() && admitted; ++i) {
    if (!plugins_[i]->Handles(Phase::kMutate, attributes)) continue;
    const SteadyTime start = Now();
    admitted = co_await plugins_[i]->Mutate(ctx, attributes);
    if (metrics_) metrics_->ObservePlugin(i, Phase::kMutate, attributes.operation, !admitted, Now() - start);
  }
  co_return admitted;
}

Task<meta::Result<>> Chain::Mutate(meta::RequestContext ctx, Attributes& attributes) const {
  const SteadyTime begin = Now();
  Reinvocation reinvocation;
  Reinvocation* const outer = std::exchange(attributes.reinvocation, &reinvocation);  // set if a plugin runs this chain
  meta::Result<> admitted = co_await MutateOnce(ctx, attributes);
  if (admitted && reinvocation.requested) {
    reinvocation.second_pass = true;
    admitted = co_await MutateOnce(ctx, attributes);
  }
  attributes.reinvocation = outer;
  if (metrics_) metrics_->ObserveStep(Phase::kMutate, attributes.operation, !admitted, Now() - begin);
  co_return admitted;
}

Task<meta::Result<>> Chain::Validate(meta::RequestContext ctx, const Attributes& attributes) const {
  const SteadyTime begin = Now();
  meta::Result<> admitted;
  for (std::size_t i = 0; i < plugins_.size() && admitted; ++i) {
    if (!plugins_[i]->Handles(Phase::kValidate, attributes)) continue;
    const SteadyTime start = Now();
    admitted = co_await plugins_[i]->Validate(ctx, attributes);
    if (metrics_) metrics_->ObservePlugin(i, Phase::kValidate, attributes.operation, !admitted, Now() - start);
  }
  if (metrics_) metrics_->ObserveStep(Phase::kValidate, attributes.operation, !admitted, Now() - begin);
  co_return admitted;
}

}  // namespace apimesh::admission
