#include "services/core-api/plugin_api.h"

#include <algorithm>

#include "services/core-api/groups/all_groups.h"
#include "services/core-api/resources/serve.h"

namespace apimesh::core_api {
namespace {

bool IsWrittenByPlugins(const registry::Resource& resource) {
  return resource.gvk.group.empty() && (resource.plural == "namespaces" || resource.plural == "resourcequotas");
}

std::vector<registry::Resource> WrittenElsewhere(const KindInputs& inputs) {
  std::vector<registry::Resource> resources = AllResources(inputs);
  std::erase_if(resources, [&inputs](const registry::Resource& resource) {
    return !IsWrittenByPlugins(resource) || IsServedHere(inputs, resource);
  });
  return resources;
}

}  // namespace

PluginApi::PluginApi(const KindInputs& inputs, endpoint::GroupServerOptions options,
                     boost::asio::any_io_executor executor)
    : inputs_(inputs) {
  if (inputs.flags.api_groups.empty() || WrittenElsewhere(inputs).empty()) return;
  server_ = std::make_shared<endpoint::GroupServer>(std::move(options));
  api_ = std::make_shared<LocalApi>(server_, std::move(executor), *inputs.clock);
}

void PluginApi::Serve(admission::ChainPtr admission) {
  if (server_) server_->Replace(ServeAll(WrittenElsewhere(inputs_), *inputs_.stores, std::move(admission)));
}

}  // namespace apimesh::core_api
