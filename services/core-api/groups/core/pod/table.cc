#include "services/core-api/groups/core/pod/table.h"

#include <fmt/format.h>

#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

std::int64_t Number(const object& parent, std::string_view name) {
  const value* found = meta::FindField(parent, name);
  return found && found->is_int64() ? found->get_int64() : 0;
}

bool IsTrue(const object& parent, std::string_view name) {
  const value* found = meta::FindField(parent, name);
  return found && found->is_bool() && found->get_bool();
}

const object* State(const object& status, std::string_view state) {
  const value* found = meta::Find(status, "state", state);
  return found ? found->if_object() : nullptr;
}

std::string_view OrNone(std::string_view text) { return text.empty() ? "<none>" : text; }

bool HasCondition(const object& root, std::string_view type, std::string_view field, std::string_view wanted) {
  for (const object& condition : Objects(meta::Find(root, "status", "conditions"))) {
    if (meta::FindString(condition, "type") == type) return meta::FindString(condition, field) == wanted;
  }
  return false;
}

/// A summary of the container statuses.
struct Summary {
  std::string reason;
  std::int64_t restarts = 0;
  std::string last_restart;  // RFC 3339 in UTC, so that texts can be compared
  std::int64_t ready = 0;
  std::int64_t total = 0;

  void CountRestarts(const object& status) {
    restarts += Number(status, "restartCount");
    const std::string_view finished = meta::FindString(status, "lastState", "terminated", "finishedAt");
    if (finished > last_restart) last_restart = finished;
  }
};

/// Returns a text such as "Completed", "Signal:9" or "ExitCode:1".
std::string TerminationReason(const object& terminated) {
  if (const std::string_view reason = meta::FindString(terminated, "reason"); !reason.empty())
    return std::string(reason);
  if (const std::int64_t signal = Number(terminated, "signal")) return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", Number(terminated, "exitCode"));
}

/// Adds the init containers to the summary. Returns true if one of them has not completed, which then determines the
/// state of the pod. `sidecars` receives the restarts of the init containers that keep running.
bool SummariseInit(const object& root, Summary& summary, Summary& sidecars) {
  const value* spec_containers = meta::Find(root, "spec", "initContainers");
  std::map<std::string_view, bool> keeps_running;
  for (const object& container : Objects(spec_containers)) {
    const bool sidecar = meta::FindString(container, "restartPolicy") == "Always";
    keeps_running[meta::FindString(container, "name")] = sidecar;
    if (sidecar) ++summary.total;
  }
  int index = -1;
  for (const object& status : Objects(meta::Find(root, "status", "initContainerStatuses"))) {
    ++index;
    const bool sidecar = keeps_running[meta::FindString(status, "name")];
    summary.CountRestarts(status);
    if (sidecar) sidecars.CountRestarts(status);
    const object* terminated = State(status, "terminated");
    if (terminated && Number(*terminated, "exitCode") == 0) continue;
    if (sidecar && IsTrue(status, "started")) {
      if (IsTrue(status, "ready")) ++summary.ready;
      continue;
    }
    const std::string_view waiting = meta::FindString(status, "state", "waiting", "reason");
    if (terminated) {
      summary.reason = "Init:" + TerminationReason(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.reason = fmt::format("Init:{}", waiting);
    } else {
      summary.reason = fmt::format("Init:{}/{}", index, Objects(spec_containers).size());
    }
    return true;
  }
  return false;
}

void SummariseContainers(const object& root, Summary& summary) {
  bool running = false;
  std::string failure;
  const std::vector<std::reference_wrapper<const object>> statuses =
      Objects(meta::Find(root, "status", "containerStatuses"));
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    const object& status = *it;
    summary.CountRestarts(status);
    const std::string_view waiting = meta::FindString(status, "state", "waiting", "reason");
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (const object* terminated = State(status, "terminated")) {
      summary.reason = TerminationReason(*terminated);
      if (Number(*terminated, "exitCode") != 0) failure = summary.reason;
    } else if (IsTrue(status, "ready") && State(status, "running")) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason != "Completed") return;
  // A container has completed, but the pod may still be running.
  if (running && HasCondition(root, "Ready", "status", "True")) {
    summary.reason = "Running";
  } else if (!failure.empty()) {
    summary.reason = failure;
  } else if (running) {
    summary.reason = "NotReady";
  }
}

Summary Summarise(const meta::Object& pod) {
  const object& root = pod.Root();
  const std::string_view phase = meta::FindString(root, "status", "phase");
  const std::string_view status_reason = meta::FindString(root, "status", "reason");
  Summary summary{.reason = std::string(status_reason.empty() ? phase : status_reason)};
  if (HasCondition(root, "PodScheduled", "reason", "SchedulingGated")) summary.reason = "SchedulingGated";
  summary.total = static_cast<std::int64_t>(Objects(meta::Find(root, "spec", "containers")).size());
  Summary sidecars;
  const bool initialising = SummariseInit(root, summary, sidecars);
  if (!initialising || HasCondition(root, "Initialized", "status", "True")) {
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    SummariseContainers(root, summary);
  }
  if (!pod.DeletionTimestamp().empty()) {
    if (status_reason == "NodeLost") {
      summary.reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.reason = "Terminating";
    }
  }
  return summary;
}

std::string ReadinessGates(const object& root) {
  const auto gates = Objects(meta::Find(root, "spec", "readinessGates"));
  if (gates.empty()) return "<none>";
  int passed = 0;
  for (const object& gate : gates) {
    if (HasCondition(root, meta::FindString(gate, "conditionType"), "status", "True")) ++passed;
  }
  return fmt::format("{}/{}", passed, gates.size());
}

std::string_view FirstIp(const object& root) {
  const auto ips = Objects(meta::Find(root, "status", "podIPs"));
  return ips.empty() ? std::string_view() : meta::FindString(ips.front(), "ip");
}

meta::json::array Cells(const meta::Object& pod, meta::Ages& ages) {
  const object& root = pod.Root();
  const Summary summary = Summarise(pod);
  std::string restarts = fmt::format("{}", summary.restarts);
  if (summary.restarts != 0 && !summary.last_restart.empty()) {
    restarts += fmt::format(" ({} ago)", ages.Of(summary.last_restart));
  }
  return {pod.Name(),
          fmt::format("{}/{}", summary.ready, summary.total),
          summary.reason,
          restarts,
          ages.Of(meta::FindString(pod.Metadata(), "creationTimestamp")),
          OrNone(FirstIp(root)),
          OrNone(meta::FindString(root, "spec", "nodeName")),
          OrNone(meta::FindString(root, "status", "nominatedNodeName")),
          ReadinessGates(root)};
}

meta::json::array RowConditions(const meta::Object& pod) {
  const std::string_view phase = meta::FindString(pod.Root(), "status", "phase");
  if (phase != "Succeeded" && phase != "Failed") return {};
  return {object{{"type", "Completed"},
                 {"status", "True"},
                 {"reason", phase},
                 {"message", phase == "Failed" ? "The pod failed." : "The pod has completed successfully."}}};
}

}  // namespace

registry::TablePrinter PodTable() {
  return {.columns = {{.name = "Name", .format = "name"},
                      {.name = "Ready"},
                      {.name = "Status"},
                      {.name = "Restarts"},
                      {.name = "Age"},
                      {.name = "IP", .priority = 1},
                      {.name = "Node", .priority = 1},
                      {.name = "Nominated Node", .priority = 1},
                      {.name = "Readiness Gates", .priority = 1}},
          .cells = &Cells,
          .reads = {"metadata.name",
                    "metadata.creationTimestamp",
                    "metadata.deletionTimestamp",
                    "spec.nodeName",
                    "spec.readinessGates",
                    "spec.containers.name",
                    "spec.initContainers.name",
                    "spec.initContainers.restartPolicy",
                    "status.phase",
                    "status.reason",
                    "status.nominatedNodeName",
                    "status.podIPs",
                    "status.conditions.type",
                    "status.conditions.status",
                    "status.conditions.reason",
                    "status.containerStatuses.name",
                    "status.containerStatuses.restartCount",
                    "status.containerStatuses.ready",
                    "status.containerStatuses.state",
                    "status.containerStatuses.lastState.terminated",
                    "status.initContainerStatuses.name",
                    "status.initContainerStatuses.restartCount",
                    "status.initContainerStatuses.ready",
                    "status.initContainerStatuses.started",
                    "status.initContainerStatuses.state",
                    "status.initContainerStatuses.lastState.terminated"},
          .conditions = &RowConditions};
}

}  // namespace apimesh::core_api
