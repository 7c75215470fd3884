#pragma once

#include <grpcpp/support/status.h>

#include "lib/etcd/client.h"

namespace apimesh::etcd {

enum class CallKind { kRead, kWrite };

/// What a failed call means. A write that may have reached the server is kAmbiguous unless the server says that it
/// was refused.
Error ErrorFrom(const grpc::Status& status, CallKind kind);

/// The request certainly did not leave this machine or was turned away at the door: sending it again is safe.
bool NotSent(const grpc::Status& status);
/// The server wants a fresh token (Authenticate).
bool TokenExpired(const grpc::Status& status);

}  // namespace apimesh::etcd
