#include "lib/admission/server_inputs.h"

#include "lib/mesh/api_client.h"

namespace apimesh::admission {
namespace {

Task<meta::Result<meta::Object>> Send(std::shared_ptr<mesh::DelegateClient> server, std::string method,
                                      std::string path, std::string body) {
  const mesh::ApiClient api(std::move(server));
  mesh::ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  co_return co_await api.SendForObject(std::move(request));
}

}  // namespace

PluginInputs ServerInputs(service::Runtime& runtime, service::AuthClientPtr auth,
                          std::function<storage::StorePtr(const meta::Gvr& resource)> store,
                          std::shared_ptr<mesh::DelegateClient> server, bool endpoint_routing) {
  SendRequest send;
  if (server) {
    send = [server](std::string method, std::string path, std::string body) {
      return Send(server, std::move(method), std::move(path), std::move(body));
    };
  }
  auto resolve = ResolveServicesOf(server, endpoint_routing, runtime.GetClock());
  const auto objects = std::make_shared<ClusterObjects>(ClusterObjects::Parts{.clock = runtime.GetClock(),
                                                                              .store = std::move(store),
                                                                              .server = std::move(server),
                                                                              .executor = runtime.Executor()});
  runtime.OnStop([objects] { objects->Stop(); });
  PluginInputs inputs;
  inputs.resolve_service = std::move(resolve);
  inputs.objects = objects;
  inputs.auth = std::move(auth);
  inputs.send = std::move(send);
  inputs.features = runtime.Flags().Features();
  inputs.large_requests = runtime.LargeRequests();
  inputs.clock = &runtime.GetClock();
  inputs.metrics = &runtime.GetMetrics();
  return inputs;
}

std::function<Task<meta::Result<std::string>>(service::ServiceReference service)> ResolveServicesOf(
    std::shared_ptr<mesh::DelegateClient> core_api, bool endpoint_routing, const Clock& clock) {
  if (!core_api) return {};
  return [core_api = std::move(core_api), endpoint_routing, &clock](service::ServiceReference service) {
    return service::ResolveService(core_api, std::move(service), endpoint_routing, clock);
  };
}

}  // namespace apimesh::admission
