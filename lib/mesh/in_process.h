#pragma once

#include <memory>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

/// Returns a client of a handler of this process, so that it is called like a server of another process. Requests to
/// upgrade a connection are sent as calls.
std::shared_ptr<DelegateClient> InProcess(std::shared_ptr<DelegateHandler> handler);

}  // namespace apimesh::mesh
