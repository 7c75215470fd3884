#pragma once

#include <string>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::service {

/// A resource that is stored in a separate etcd.
struct Override {
  meta::GroupResource resource;
  std::vector<std::string> servers;
};

/// Parses --etcd-servers-overrides: "group/resource#server;server"; the group is empty for the core group. Throws
/// std::invalid_argument.
std::vector<Override> ParseOverrides(const std::vector<std::string>& texts);

}  // namespace apimesh::service
