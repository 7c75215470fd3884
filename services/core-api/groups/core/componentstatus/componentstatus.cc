#include "services/core-api/groups/core/componentstatus/componentstatus.h"

#include <fmt/format.h>

#include "lib/http/client.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

json::array Cells(const meta::Object& object, meta::Ages&) {
  std::string_view status = "Unhealthy";
  std::string_view message, error;
  for (const json::object& condition : Objects(meta::FindField(object.Root(), "conditions"))) {
    if (meta::FindString(condition, "type") != "Healthy") continue;
    if (meta::FindString(condition, "status") == "True") status = "Healthy";
    message = meta::FindString(condition, "message");
    error = meta::FindString(condition, "error");
  }
  return {json::string(object.Name()), status, message, error};
}

Task<ComponentHealth> AskOverHttp(std::shared_ptr<http::Client> client, int port, SteadyTime deadline) {
  const std::string url = fmt::format("https://127.0.0.1:{}/healthz", port);
  const http::Headers none;
  const auto answer = co_await client->Do("GET", url, none, "", deadline);
  if (!answer) co_return ComponentHealth{false, fmt::format("Get \"{}\": {}", url, answer.error().message)};
  if (answer->code < 200 || answer->code >= 400)
    co_return ComponentHealth{false, fmt::format("HTTP probe failed with statuscode: {}", answer->code)};
  co_return ComponentHealth{true, answer->body};
}

/// Probes a component at https://127.0.0.1:`port`/healthz.
ComponentProbe HttpProbe(int port, const Clock& clock) {
  http::ClientOptions options{.clock = clock};
  options.tls.insecure_skip_verify = true;
  const std::shared_ptr<http::Client> client = http::NewClient(options);
  return [client, port](SteadyTime deadline) { return AskOverHttp(client, port, deadline); };
}

Task<ComponentHealth> AskEtcd(std::shared_ptr<etcd::Client> client, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.keys_only = true;
  options.deadline = deadline;
  const auto answer = co_await client->Range("health", std::move(options));
  co_return ComponentHealth{static_cast<bool>(answer), answer ? "ok" : answer.error().message};
}

ComponentProbes Components(const KindInputs& inputs) {
  if (!inputs.clock) return {};  // a test that does not read the components
  constexpr int kControllerManagerPort = 10257, kSchedulerPort = 10259;
  ComponentProbes probes = {{"controller-manager", HttpProbe(kControllerManagerPort, *inputs.clock)},
                            {"scheduler", HttpProbe(kSchedulerPort, *inputs.clock)}};
  for (std::size_t i = 0; i < inputs.flags.etcd.servers.size(); ++i) {
    probes["etcd-" + std::to_string(i)] = [client = inputs.etcd](SteadyTime deadline) {
      return AskEtcd(client, deadline);
    };
  }
  return probes;
}

}  // namespace

registry::Resource ComponentStatusResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "componentstatuses");
  resource.store = ComponentStatusStore(Components(inputs), inputs.clock);
  resource.table = {{NameColumn(),
                     {.name = "Status", .description = "Whether it is healthy."},
                     {.name = "Message", .description = "The answer of its health check."},
                     {.name = "Error", .description = "Why the health check failed."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "conditions"}};
  return resource;
}

}  // namespace apimesh::core_api
