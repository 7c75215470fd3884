#include "services/core-api/groups/core/componentstatus/componentstatus.h"

#include <fmt/format.h>

#include "lib/http/client.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/walk.h"
#include "services/core-api/resources/generic.h"

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

Task<ComponentHealth> Ask(std::shared_ptr<http::Client> client, int port, SteadyTime deadline) {
  const std::string url = fmt::format("https://127.0.0.1:{}/healthz", port);
  const http::Headers none;
  const auto answer = co_await client->Do("GET", url, none, "", deadline);
  if (!answer) co_return ComponentHealth{false, fmt::format("Get \"{}\": {}", url, answer.error().message)};
  if (answer->code < 200 || answer->code >= 400) co_return ComponentHealth{false, fmt::format("HTTP probe failed with statuscode: {}", answer->code)};
  co_return ComponentHealth{true, answer->body};
}

}  // namespace

registry::Resource ComponentStatusResource() {
  registry::Resource resource = FromTable("", "v1", "componentstatuses");
  resource.table = {{NameColumn(),
                     {.name = "Status", .description = "Whether it is healthy."},
                     {.name = "Message", .description = "What it says about itself."},
                     {.name = "Error", .description = "What went wrong when it was asked."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "conditions"}};
  return resource;
}

ComponentProbe HttpProbe(int port) {
  http::ClientOptions options;
  options.insecure_skip_verify = true;
  const std::shared_ptr<http::Client> client = http::NewClient(options);
  return [client, port](SteadyTime deadline) { return Ask(client, port, deadline); };
}

}  // namespace apimesh::core_api
