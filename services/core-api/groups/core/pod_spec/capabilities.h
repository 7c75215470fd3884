#pragma once

namespace apimesh::core_api {

/// What the options of the server allow every pod to do. The main thread sets it once, before requests are served.
struct PodCapabilities {
  bool privileged = true;  // --allow-privileged: containers may be privileged
};
inline PodCapabilities& AllowedPodCapabilities() {
  static PodCapabilities capabilities;
  return capabilities;
}

}  // namespace apimesh::core_api
