#include "services/core-api/groups/core/pod_spec/defaults.h"

#include "lib/meta/quantity.h"
#include "services/core-api/groups/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

bool IsUnset(const object& parent, std::string_view name) {
  const value* found = meta::FindField(parent, name);
  return !found || found->is_null() || (found->is_string() && found->get_string().empty());
}

void DefaultPullPolicy(object& image, std::string_view field, std::string_view reference) {
  if (IsUnset(image, field)) image[field] = ImageTag(reference) == "latest" ? "Always" : "IfNotPresent";
}

/// Copies what `from` has and `to` lacks.
void FillIn(object& to, const object& from) {
  for (const auto& [key, quantity] : from) {
    if (!to.contains(key)) to[key] = quantity;
  }
}

object* Child(object& parent, std::string_view name) {
  value* found = meta::FindField(parent, name);
  return found ? found->if_object() : nullptr;
}

void DefaultRequests(object& container) {
  object* resources = Child(container, "resources");
  const object* limits = resources ? Child(*resources, "limits") : nullptr;
  if (!limits || limits->empty()) return;
  object& requests = meta::MakeObject(*resources, "requests");  // may move the limits
  FillIn(requests, *Child(*resources, "limits"));
}

void DefaultHostPorts(object& container) {
  for (object& port : Objects(meta::FindField(container, "ports"))) {
    const value* host = meta::FindField(port, "hostPort");
    if (host && host->is_int64() && host->get_int64() != 0) continue;
    if (const value* number = meta::FindField(port, "containerPort")) port["hostPort"] = value(*number);  // a copy: the new field may move it
  }
}

/// Resources that may be set for a pod as a whole.
bool IsPodLevel(std::string_view name) { return name == "cpu" || name == "memory" || name.starts_with("hugepages-"); }

/// What all containers of a pod want together: the sum of those that run at the same time, or the largest single init
/// container with the sidecars that run beside it. `kind` is "requests" or "limits".
std::map<std::string, meta::Quantity, std::less<>> Aggregate(object& spec, std::string_view kind) {
  using Amounts = std::map<std::string, meta::Quantity, std::less<>>;
  const auto read = [&](object& container) {
    Amounts amounts;
    object* resources = Child(container, "resources");
    object* list = resources ? Child(*resources, kind) : nullptr;
    if (!list) return amounts;
    for (const auto& [name, amount] : *list) {
      if (!amount.is_string()) continue;
      if (const auto quantity = meta::Quantity::Parse(amount.get_string())) amounts[name] = *quantity;
    }
    return amounts;
  };
  const auto add = [](Amounts& sum, const Amounts& more) {
    for (const auto& [name, amount] : more) sum[name].Add(amount);
  };
  Amounts total, sidecars, largest_init;
  for (object& container : Objects(meta::FindField(spec, "containers"))) add(total, read(container));
  for (object& container : Objects(meta::FindField(spec, "initContainers"))) {
    Amounts amounts = read(container);
    if (meta::FindString(container, "restartPolicy") == "Always") {
      add(total, amounts);
      add(sidecars, amounts);
      amounts = sidecars;
    } else {
      add(amounts, sidecars);
    }
    for (const auto& [name, amount] : amounts) largest_init[name] = std::max(largest_init[name], amount);
  }
  for (const auto& [name, amount] : largest_init) total[name] = std::max(total[name], amount);
  return total;
}

/// Pod-level resources: huge-page limits and all requests are filled in from the containers, where given in part.
void DefaultPodResources(object& spec) {
  object* resources = Child(spec, "resources");
  if (!resources) return;
  const auto empty = [&](std::string_view name) {
    const object* list = Child(*resources, name);
    return !list || list->empty();
  };
  if (!empty("limits") || !empty("requests")) {
    for (const auto& [name, amount] : Aggregate(spec, "limits")) {
      if (!name.starts_with("hugepages-") || meta::Find(*resources, "requests", name)) continue;
      object& limits = meta::MakeObject(*resources, "limits");
      if (!limits.contains(name)) limits[name] = amount.ToString();
    }
  }
  if (empty("limits")) return;
  object requests(resources->storage());
  if (const object* given = Child(*resources, "requests")) requests = *given;
  for (const auto& [name, amount] : Aggregate(spec, "requests")) {
    if ((name == "cpu" || name == "memory") && !requests.contains(name)) requests[name] = amount.ToString();
  }
  for (const auto& [name, amount] : *Child(*resources, "limits")) {
    if (IsPodLevel(name) && !requests.contains(name)) requests[name] = amount;
  }
  if (!requests.empty()) (*resources)["requests"] = std::move(requests);
}

}  // namespace

std::string_view ImageTag(std::string_view image) {
  const std::size_t at = image.find('@');
  const std::string_view name = image.substr(0, at);
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) return name.substr(colon + 1);
  return at == std::string_view::npos ? "latest" : "";
}

void DefaultPodSpec(object& spec) {
  for (const char* list : kContainerLists) {
    for (object& container : Objects(meta::FindField(spec, list))) {
      DefaultPullPolicy(container, "imagePullPolicy", meta::FindString(container, "image"));
    }
  }
  for (object& volume : Objects(meta::FindField(spec, "volumes"))) {
    const bool has_source = std::any_of(volume.begin(), volume.end(), [](const auto& member) { return member.key() != "name" && !member.value().is_null(); });
    if (!has_source) volume["emptyDir"].emplace_object();
    if (object* image = Child(volume, "image")) DefaultPullPolicy(*image, "pullPolicy", meta::FindString(*image, "reference"));
  }
}

void DefaultPod(object& pod) {
  object* spec = Child(pod, "spec");
  if (!spec) return;
  DefaultPodSpec(*spec);
  for (const char* list : {"containers", "initContainers"}) {
    for (object& container : Objects(meta::FindField(*spec, list))) DefaultRequests(container);
  }
  DefaultPodResources(*spec);
  if (IsUnset(*spec, "enableServiceLinks")) (*spec)["enableServiceLinks"] = true;
  const value* host_network = meta::FindField(*spec, "hostNetwork");
  if (host_network && host_network->is_bool() && host_network->get_bool()) {
    for (const char* list : {"containers", "initContainers"}) {
      for (object& container : Objects(meta::FindField(*spec, list))) DefaultHostPorts(container);
    }
  }
}

}  // namespace apimesh::core_api
