#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/aggregator/auth/authority.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// The processes of the mesh, as the diagnosis of each (lib/service/diagnostics) is reached from here.
class MeshProcesses {
 public:
  MeshProcesses(std::shared_ptr<RouteTable> routes, std::shared_ptr<Authority> authority)
      : routes_(std::move(routes)), authority_(std::move(authority)) {}

  /// This process is the first.
  std::vector<std::string> Names() const;
  /// Sends a request of diagnosis to the process. Returns 404 if there is none of this name.
  Task<mesh::Response> Ask(std::string name, mesh::Request request) const;

 private:
  std::shared_ptr<RouteTable> routes_;
  std::shared_ptr<Authority> authority_;
};

}  // namespace apimesh::aggregator
