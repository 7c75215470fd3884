#include "services/core-api/groups/core/pod/container_statuses.h"

#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

/// Containers or their statuses, by name. If several have the same name, the first one counts.
using ByName = std::map<std::string_view, const object*>;

ByName Named(const object& holder, std::string_view list) {
  ByName result;
  for (const object& item : Objects(meta::FindField(holder, list)))
    result.emplace(meta::FindString(item, "name"), &item);
  return result;
}

bool HasRestartAllRule(const object& spec) {
  if (!ActiveRuleFeatures().restart_all_containers_on_container_exits) return false;
  for (const char* list : {"initContainers", "containers"}) {
    for (const object& container : Objects(meta::FindField(spec, list))) {
      for (const object& rule : Objects(meta::FindField(container, "restartPolicyRules"))) {
        if (meta::FindString(rule, "action") == "RestartAllContainers") return true;
      }
    }
  }
  return false;
}

bool MatchesRule(const object& rule, std::int64_t exit_code) {
  const value* codes = meta::Find(rule, "exitCodes", "values");
  if (!codes || !codes->is_array()) return false;
  const bool listed = std::any_of(codes->get_array().begin(), codes->get_array().end(),
                                  [&](const value& code) { return code.is_int64() && code.get_int64() == exit_code; });
  const std::string_view op = meta::FindString(rule, "exitCodes", "operator");
  return op == "In" ? listed : op == "NotIn" && !listed;
}

bool Restarts(std::string_view policy, std::int64_t exit_code) {
  return policy == "OnFailure" ? exit_code != 0 : policy != "Never";
}

/// Whether a container that ended with this code is started again.
bool ShouldRestart(const object& container, std::string_view pod_policy, std::int64_t exit_code) {
  const std::string_view policy = meta::FindString(container, "restartPolicy");
  if (policy.empty()) return Restarts(pod_policy, exit_code);
  for (const object& rule : Objects(meta::FindField(container, "restartPolicyRules"))) {
    if (MatchesRule(rule, exit_code)) {
      const std::string_view action = meta::FindString(rule, "action");
      if (action == "Restart") return true;
      if (action == "RestartAllContainers" && ActiveRuleFeatures().restart_all_containers_on_container_exits)
        return true;
      break;
    }
  }
  if (policy == "Always" || policy == "OnFailure" || policy == "Never") return Restarts(policy, exit_code);
  return Restarts(pod_policy, exit_code);
}

/// `containers` is nullptr for ephemeral containers, which are never restarted.
void ValidateTransitions(const Check& status, const object& old_status, const char* list, const ByName* containers,
                         std::string_view pod_policy) {
  const auto before = Objects(meta::FindField(old_status, list));
  if (before.empty()) return;
  const ByName now = Named(status.Object(), list);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const value* terminated = meta::Find(before[i].get(), "state", "terminated");
    if (!terminated || !terminated->is_object()) continue;
    const auto found = now.find(meta::FindString(before[i].get(), "name"));
    if (found == now.end() || meta::Find(*found->second, "state", "terminated")) continue;
    if (containers) {
      const value* code = meta::FindField(terminated->get_object(), "exitCode");
      const auto container = containers->find(found->first);
      if (container != containers->end() &&
          ShouldRestart(*container->second, pod_policy, code && code->is_int64() ? code->get_int64() : 0)) {
        continue;
      }
    }
    status.Add(meta::Forbidden(status.Path().Child(list).Index(i).Child("state").ToString(),
                               "may not be transitioned to non-terminated state"));
  }
}

void ValidateId(const Check& user, const meta::Path& path, std::int64_t id) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (id < 0 || id > kMax)
    user.Add(
        meta::Invalid(path.ToString(), std::to_string(id), fmt::format("must be between 0 and {}, inclusive", kMax)));
}

void ValidateUser(const Check& container, bool windows) {
  const std::optional<Check> user = container.Child("user");
  const std::optional<Check> linux_user = user ? user->Child("linux") : std::nullopt;
  if (!linux_user) return;
  if (windows) {
    user->Forbid("linux", "cannot be set for a windows pod");
    return;
  }
  for (const char* field : {"uid", "gid"})
    ValidateId(*linux_user, linux_user->Path().Child(field), linux_user->Number(field).value_or(0));
  const value* groups = meta::FindField(linux_user->Object(), "supplementalGroups");
  if (!groups || !groups->is_array()) return;
  for (std::size_t i = 0; i < groups->get_array().size(); ++i) {
    if (groups->get_array()[i].is_int64())
      ValidateId(*linux_user, linux_user->Path().Child("supplementalGroups").Index(i),
                 groups->get_array()[i].get_int64());
  }
}

bool HasClaim(const object& container, std::string_view wanted) {
  const value* resources = meta::FindField(container, "resources");
  if (!resources || !resources->is_object()) return false;
  for (const object& claim : Objects(meta::FindField(resources->get_object(), "claims"))) {
    const std::string_view request = meta::FindString(claim, "request");
    const std::string_view name = meta::FindString(claim, "name");
    if (wanted == (request.empty() ? fmt::format("claim:{}", name) : fmt::format("claim:{}/{}", name, request)))
      return true;
  }
  return false;
}

void ValidateHealth(const Check& allocated) {
  constexpr std::size_t kMaxMessage = 1024;
  std::set<std::string_view> ids;
  for (const Check& resource : allocated.Each("resources")) {
    if (const std::string_view health = resource.Text("health");
        health != "Healthy" && health != "Unhealthy" && health != "Unknown") {
      resource.Add(meta::NotSupported(resource.Path().Child("health").ToString(), meta::Quoted(health),
                                      {"Healthy", "Unhealthy", "Unknown"}));
    }
    if (resource.Has("message")) {
      const std::string path = resource.Path().Child("message").ToString();
      if (resource.Text("message").empty()) {
        resource.Add(meta::Required(path, "must be non-empty if specified"));
      } else if (resource.Text("message").size() > kMaxMessage) {
        resource.Add(meta::TooLong(path, kMaxMessage));
      }
    }
    const std::string_view id = resource.Text("resourceID");
    if (!ids.insert(id).second)
      resource.Add(meta::Duplicate(resource.Path().Child("resourceID").ToString(), meta::Quoted(id)));
  }
}

void ValidateAllocated(const Check& status, const ByName& containers) {
  const auto found = containers.find(status.Text("name"));
  for (const Check& allocated : status.Each("allocatedResourcesStatus")) {
    const std::string_view name = allocated.Text("name");
    if (found != containers.end()) {
      const bool is_claim = name.starts_with("claim:");
      if (is_claim ? !HasClaim(*found->second, name) : !meta::Find(*found->second, "resources", "requests", name)) {
        allocated.Add(meta::Invalid(
            allocated.Path().Child("name").ToString(), meta::Quoted(name),
            is_claim ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
                       "'claim:<claimName>' if request is empty"
                     : "must match one of the container's resource requests"));
      }
    }
    ValidateHealth(allocated);
  }
}

}  // namespace

void ValidateStateTransitions(const Check& status, const meta::Object& old) {
  const object& spec = PodSpecOf(old);
  static const object empty;
  const value* found = meta::FindField(old.Root(), "status");
  const object& before = found && found->is_object() ? found->get_object() : empty;
  const std::string_view policy = meta::FindString(spec, "restartPolicy");
  if (!HasRestartAllRule(spec)) {
    const ByName containers = Named(spec, "containers"), init = Named(spec, "initContainers");
    ValidateTransitions(status, before, "containerStatuses", &containers, policy);
    ValidateTransitions(status, before, "initContainerStatuses", &init, policy);
  }
  ValidateTransitions(status, before, "ephemeralContainerStatuses", nullptr, policy);
}

void ValidateContainerStatuses(const Check& status, const object& spec) {
  const bool windows = meta::FindString(spec, "os", "name") == "windows";
  for (const char* list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    for (const Check& container : status.Each(list)) ValidateUser(container, windows);
  }
  const ByName containers = Named(spec, "containers"), init = Named(spec, "initContainers");
  for (const Check& container : status.Each("containerStatuses")) ValidateAllocated(container, containers);
  for (const Check& container : status.Each("initContainerStatuses")) ValidateAllocated(container, init);
  for (const Check& container : status.Each("ephemeralContainerStatuses")) {
    if (!container.Each("allocatedResourcesStatus").empty())
      container.Forbid("allocatedResourcesStatus", "must not be specified in container status");
  }
}

}  // namespace apimesh::core_api
