#include "services/launcher/commands/scale.h"

#include <algorithm>
#include <set>
#include <thread>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/launcher/inspect/metrics_text.h"
#include "services/launcher/inspect/probe.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/shards/shards.h"
#include "services/launcher/shards/unix_socket.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kLimit{60};
/// The aggregator serves this group itself; the definitions must have one server.
constexpr const char* kNotScalable[] = {"apiregistration.k8s.io", "apiextensions.k8s.io"};

/// A reader of the API of a running mesh, as its administrator.
class Api {
 public:
  Api(const RunFolder& folder, const RunFolder::State& state)
      : server_(ParseServer(state.server)), administrator_{folder.Pki() + "/admin.crt", folder.Pki() + "/admin.key"} {}
  std::string Get(const std::string& path) const {
    return server_ ? HttpsBody(server_->host, server_->port, path, administrator_) : "";
  }

 private:
  const std::optional<Address> server_;
  const ClientCertificate administrator_;
};

std::string TextAt(const json::value& value, const char* pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// Whether the aggregator sends requests to the shard with this name.
bool IsServing(const Api& api, const std::string& shard) {
  bool serving = false;
  ForEachSample(api.Get("/metrics"), [&](const MetricSample& sample) {
    serving |= sample.name == "apimesh_shard_serving" && sample.Label("shard") == shard && sample.value == 1;
  });
  return serving;
}

/// Whether the processes of the group are as wanted.
bool IsDone(const RunFolder::State& state, const Api& api, const std::string& group, const std::string& program,
            int replicas) {
  const auto found =
      std::find_if(state.groups.begin(), state.groups.end(), [&](const auto& one) { return one.group == group; });
  const int ready = found == state.groups.end() ? 0 : found->ready;
  const auto process = [&](const RunFolder::Process& one) {
    return one.name.starts_with(fmt::format("{}-{}-", program, group));
  };
  const auto running = std::count_if(state.processes.begin(), state.processes.end(), process);
  return ready == replicas && running == replicas &&
         IsServing(api, fmt::format("{}-{}", program, group)) == (replicas > 0);
}

}  // namespace

std::string ProgramOf(const std::string& group, const std::string& api_services, std::string& why) {
  boost::system::error_code error;
  const json::value document = json::parse(api_services, error);
  const json::value* items = !error && document.is_object() ? document.get_object().if_contains("items") : nullptr;
  if (!items || !items->is_array()) {
    why = "the API does not list its groups; `apimesh status` and `apimesh logs aggregator` may say why";
    return "";
  }
  if (std::find(std::begin(kNotScalable), std::end(kNotScalable), group) != std::end(kNotScalable)) {
    why = fmt::format("{} always has one server, so it cannot be scaled", group);
    return "";
  }
  std::set<std::string> names;
  for (const json::value& item : items->get_array()) {
    const std::string found = TextAt(item, "/spec/group");
    names.insert(found.empty() ? "core" : found);
    if ((found.empty() ? "core" : found) != group) continue;
    boost::system::error_code none;
    const json::value* service = item.find_pointer("/spec/service", none);
    if (service && service->is_object()) {
      why = fmt::format("{} is served by a server outside the mesh, so it cannot be scaled", group);
      return "";
    }
    const bool custom = TextAt(item, "/metadata/labels/kube-aggregator.kubernetes.io~1automanaged") == "true";
    return custom ? "extensions-api" : "core-api";
  }
  why = fmt::format("there is no API group \"{}\"; the groups are: {}", group, fmt::join(names, ", "));
  return "";
}

int Scale(const std::string& path, const std::string& group, int replicas, const Clock& clock) {
  const RunFolder folder(path);
  std::optional<RunFolder::State> state = folder.Read();
  if (!state || !state->ready) {
    fmt::print(stderr, "apimesh: no mesh is ready in {}; see ./apimesh status, or start it: ./apimesh up --dir {}\n",
               folder.Root(), path);
    return 3;
  }
  const Api api(folder, *state);
  std::string why;
  std::string program = ProgramOf(group, api.Get("/apis/apiregistration.k8s.io/v1/apiservices"), why);
  // A group whose definitions are gone can still be given back.
  for (const RunFolder::ScaledGroup& one : state->groups) {
    if (program.empty() && one.group == group && replicas == 0) program = one.process;
  }
  if (program.empty()) {
    fmt::print(stderr, "apimesh: {}\n", why);
    return 1;
  }
  const std::string request = shards::WriteLayout({{group, program, replicas}});
  std::string response = shards::Exchange(state->control, request + "\n");
  if (response != "\n") {
    if (response.empty()) response = fmt::format("the launcher (pid {}) does not respond", state->launcher);
    fmt::print(stderr, "apimesh: {}\n", response);
    return 1;
  }
  for (const SteadyTime limit = clock.Steady() + kLimit; clock.Steady() < limit;) {
    state = folder.Read();
    if (!state) break;
    if (IsDone(*state, api, group, program, replicas)) {
      if (replicas == 0) {
        fmt::print("{} is served by the common {}.\n", group, program);
      } else {
        fmt::print("{} is served by {} {} of its own.\n", group, replicas, replicas == 1 ? "process" : "processes");
      }
      return 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  fmt::print(stderr,
             "apimesh: {} is not served by {} processes yet; `./apimesh status` shows them, and `./apimesh logs "
             "{}-{}-1` may say why\n",
             group, replicas, program, group);
  return 1;
}

}  // namespace apimesh::launcher
