#pragma once

#include <string_view>
#include <vector>

#include "lib/h2/caller.h"
#include "lib/rpc/identity.h"

/// Who may call whom in a mesh that spans machines. Each process has its own certificate, signed by the mesh CA, with its
/// identity as a URI. A listener admits only the processes that call it in normal operation, and each of them only for the
/// methods that it needs; so a stolen certificate is worth no more than the process that it belonged to.
/// On one machine the processes connect by Unix sockets in a folder that only their user can open; there is no further check.
namespace apimesh::rpc {

/// The callers that the process `server` admits at its listeners. Empty for a process that serves no gRPC.
std::vector<h2::Caller> CallersOf(std::string_view server);

/// Whether this caller may only read by the Delegate service: it watches objects, and no client's request passes through it.
bool OnlyReads(std::string_view identity);

}  // namespace apimesh::rpc
