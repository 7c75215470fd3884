#pragma once

#include "lib/h2/server_call.h"

namespace apimesh::rpc {

/// gRPC's server reflection (v1 and v1alpha) for the methods there are, from the descriptors in this binary.
void AddReflection(h2::Methods& methods);

}  // namespace apimesh::rpc
