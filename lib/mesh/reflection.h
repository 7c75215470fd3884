#pragma once

#include "lib/grpc/server_call.h"

namespace apimesh::mesh {

/// Adds gRPC server reflection (v1 and v1alpha) for the services registered so far, using the descriptors in this
/// binary.
void AddReflection(grpc::Methods& methods);

}  // namespace apimesh::mesh
