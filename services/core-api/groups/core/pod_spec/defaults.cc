#include "services/core-api/groups/core/pod_spec/defaults.h"

#include <re2/re2.h>

#include "lib/admission/pod_resources.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/validation/walk.h"

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

/// Copies the fields of `from` that `to` does not have.
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
  object& requests =
      meta::MakeObject(*resources, "requests");  // may reallocate and invalidate references to the limits
  FillIn(requests, *Child(*resources, "limits"));
}

void DefaultHostPorts(object& container) {
  for (object& port : Objects(meta::FindField(container, "ports"))) {
    const value* host = meta::FindField(port, "hostPort");
    if (host && host->is_int64() && host->get_int64() != 0) continue;
    if (const value* number = meta::FindField(port, "containerPort"))
      port["hostPort"] = value(*number);  // a copy, because the insertion may invalidate `number`
  }
}

/// Returns the total of the containers of a pod, without resources at pod level. `kind` is "requests" or "limits".
admission::Amounts TotalOfContainers(const object& spec, std::string_view kind) {
  return admission::PodTotal(spec, kind, [](std::string_view) { return false; });
}

/// Completes pod-level resources that are given in part: limits of huge pages and all requests follow from the
/// containers.
void DefaultPodResources(object& spec) {
  object* resources = Child(spec, "resources");
  if (!resources) return;
  const auto empty = [&](std::string_view name) {
    const object* list = Child(*resources, name);
    return !list || list->empty();
  };
  if (!empty("limits") || !empty("requests")) {
    for (const auto& [name, amount] : TotalOfContainers(spec, "limits")) {
      if (!name.starts_with("hugepages-") || meta::Find(*resources, "requests", name)) continue;
      object& limits = meta::MakeObject(*resources, "limits");
      if (!limits.contains(name)) limits[name] = amount.ToString();
    }
  }
  if (empty("limits")) return;
  object requests(resources->storage());
  if (const object* given = Child(*resources, "requests")) requests = *given;
  for (const auto& [name, amount] : TotalOfContainers(spec, "requests")) {
    if ((name == "cpu" || name == "memory") && !requests.contains(name)) requests[name] = amount.ToString();
  }
  for (const auto& [name, amount] : *Child(*resources, "limits")) {
    if (admission::IsPodLevelResource(name) && !requests.contains(name)) requests[name] = amount;
  }
  if (!requests.empty()) (*resources)["requests"] = std::move(requests);
}

}  // namespace

std::string_view ImageTag(std::string_view image) {
  // The grammar of image names, as container runtimes have it. A name that they refuse has no tag.
  static const re2::RE2 grammar(
      "(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+"
      "\\])"
      "(?::[0-9]+)?/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
      "(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?");
  constexpr std::size_t kMaxName = 255;
  if (!re2::RE2::FullMatch(image, grammar) || image.substr(0, image.find('@')).size() > kMaxName) return "";
  const std::size_t at = image.find('@');
  const std::string_view name = image.substr(0, at);
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash))
    return name.substr(colon + 1);
  return at == std::string_view::npos ? "latest" : "";
}

void DefaultPodSpec(object& spec) {
  // serviceAccount is the old name of serviceAccountName. Both always have the same value.
  if (!IsUnset(spec, "serviceAccountName")) {
    spec["serviceAccount"] = value(*meta::FindField(spec, "serviceAccountName"));
  } else if (!IsUnset(spec, "serviceAccount")) {
    spec["serviceAccountName"] = value(*meta::FindField(spec, "serviceAccount"));
  }
  for (const char* list : kContainerLists) {
    for (object& container : Objects(meta::FindField(spec, list))) {
      DefaultPullPolicy(container, "imagePullPolicy", meta::FindString(container, "image"));
    }
  }
  for (object& volume : Objects(meta::FindField(spec, "volumes"))) {
    const bool has_source = std::any_of(volume.begin(), volume.end(), [](const auto& member) {
      return member.key() != "name" && !member.value().is_null();
    });
    if (!has_source) volume["emptyDir"].emplace_object();
    if (object* image = Child(volume, "image"))
      DefaultPullPolicy(*image, "pullPolicy", meta::FindString(*image, "reference"));
  }
}

void DefaultPod(object& pod) {
  object* spec = Child(pod, "spec");
  if (!spec) return;
  DefaultPodSpec(*spec);
  if (value* grace = meta::FindField(*spec, "terminationGracePeriodSeconds");
      grace && grace->is_int64() && grace->get_int64() < 0) {
    *grace = 1;
  }
  for (const char* list : {"containers", "initContainers"}) {
    for (object& container : Objects(meta::FindField(*spec, list))) DefaultRequests(container);
  }
  if (ActiveRuleFeatures().pod_level_resources) DefaultPodResources(*spec);
  // Templates keep a negative value.
  value* grace = meta::FindField(*spec, "terminationGracePeriodSeconds");
  if (grace && grace->is_int64() && grace->get_int64() < 0) *grace = 1;
  if (IsUnset(*spec, "enableServiceLinks")) (*spec)["enableServiceLinks"] = true;
  const value* host_network = meta::FindField(*spec, "hostNetwork");
  if (host_network && host_network->is_bool() && host_network->get_bool()) {
    for (const char* list : {"containers", "initContainers"}) {
      for (object& container : Objects(meta::FindField(*spec, list))) DefaultHostPorts(container);
    }
  }
}

}  // namespace apimesh::core_api
