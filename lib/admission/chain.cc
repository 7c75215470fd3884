#include "lib/admission/chain.h"

namespace apimesh::admission {

Task<meta::Result<>> Chain::Mutate(meta::RequestContext ctx, Attributes& attributes) const {
  for (const std::unique_ptr<Plugin>& plugin : plugins_) {
    if (plugin->Handles(Phase::kMutate, attributes)) CO_RETURN_IF_ERROR(co_await plugin->Mutate(ctx, attributes));
  }
  co_return meta::Result<>();
}

Task<meta::Result<>> Chain::Validate(meta::RequestContext ctx, const Attributes& attributes) const {
  for (const std::unique_ptr<Plugin>& plugin : plugins_) {
    if (plugin->Handles(Phase::kValidate, attributes)) CO_RETURN_IF_ERROR(co_await plugin->Validate(ctx, attributes));
  }
  co_return meta::Result<>();
}

}  // namespace apimesh::admission
