#pragma once

#include <string>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::stores {

/// A resource that is kept in an etcd of its own.
struct Override {
  meta::GroupResource resource;
  std::vector<std::string> servers;
};

/// Values of --etcd-servers-overrides: "group/resource#server;server", the group empty for the core one.
/// Throws std::invalid_argument.
std::vector<Override> ParseOverrides(const std::vector<std::string>& texts);

}  // namespace apimesh::stores
