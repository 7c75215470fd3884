#pragma once

#include "lib/grpc/status.h"

namespace apimesh::store {

/// The outcome of a call as gRPC sends it.
using grpc::Code;
using grpc::Status;

}  // namespace apimesh::store
