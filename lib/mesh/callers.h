#pragma once

#include <string_view>
#include <vector>

#include "lib/grpc/caller.h"
#include "lib/mesh/identity.h"

/// Defines the processes that may call each other in a mesh that spans machines. Each process has its own certificate,
/// signed by the mesh CA, with its identity as a URI. A listener admits only the processes that call it in normal
/// operation, each only for the methods that it needs, so a stolen certificate grants no more than its process needs.
/// On one machine the processes connect by Unix sockets in a folder that only their user can open; there is no further
/// check.
namespace apimesh::mesh {

/// The callers that the listeners of the process `server` admit. Empty for a process that does not serve gRPC.
std::vector<grpc::Caller> CallersOf(std::string_view server);

/// Whether this caller may only read through the Delegate service: it watches objects on its own behalf and forwards no
/// client requests.
bool OnlyReads(std::string_view identity);

}  // namespace apimesh::mesh
