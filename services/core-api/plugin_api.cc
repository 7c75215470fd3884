#include "services/core-api/plugin_api.h"

#include "services/core-api/groups/all_groups.h"
#include "services/core-api/resources/runtime_config.h"
#include "services/core-api/resources/serve.h"

namespace apimesh::core_api {

PluginApi::PluginApi(const Flags& flags, std::shared_ptr<endpoint::GroupServer> server,
                     endpoint::GroupServerOptions options)
    : served_(std::move(server)),
      complete_(flags.api_groups.empty() ? served_ : std::make_shared<endpoint::GroupServer>(std::move(options))) {}

void PluginApi::Serve(const KindInputs& inputs, admission::ChainPtr admission) {
  if (complete_ == served_) return;
  std::vector<registry::Resource> resources = AllResources(inputs);
  std::erase_if(resources, [&inputs](const registry::Resource& resource) {
    return !IsServed(inputs.flags.runtime_config, resource.GetGvr());
  });
  const auto store = [&inputs](const registry::Resource& resource) {
    if (resource.store || IsServedHere(inputs, resource)) return inputs.stores->Find(resource.GetGvr());
    return resource.storage_prefix.empty() ? nullptr : inputs.stores->Of(resource.GetGvr());
  };
  complete_->Replace(ServeAll(std::move(resources), store, std::move(admission)));
}

}  // namespace apimesh::core_api
