#include "services/core-api/groups/core/pod/connect/container.h"

#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {

meta::Result<std::string> ContainerOf(const meta::Object& pod, std::string_view asked) {
  std::vector<std::string> names;
  for (const char* list : kContainerLists) {
    for (const meta::json::object& container : Objects(meta::Find(pod.Root(), "spec", list))) {
      names.emplace_back(meta::FindString(container, "name"));
    }
  }
  if (!asked.empty()) {
    if (std::find(names.begin(), names.end(), asked) != names.end()) return std::string(asked);
    return meta::BadRequest(fmt::format("container {} is not valid for pod {}", asked, pod.Name()));
  }
  const auto containers = Objects(meta::Find(pod.Root(), "spec", "containers"));
  if (containers.size() == 1) return std::string(meta::FindString(containers.front(), "name"));
  if (containers.empty())
    return meta::BadRequest(fmt::format("a container name must be specified for pod {}", pod.Name()));
  return meta::BadRequest(fmt::format("a container name must be specified for pod {}, choose one of: [{}]", pod.Name(),
                                      fmt::join(names, " ")));
}

}  // namespace apimesh::core_api
