#pragma once

#include "lib/etcd/client.h"
#include "lib/grpc/status.h"

namespace apimesh::etcd {

enum class CallKind { kRead, kWrite };

/// Classifies a failed call. A write that may have reached the server is kAmbiguous unless the server reports that it
/// rejected the write.
Error ErrorFrom(const grpc::Status& status, CallKind kind);

/// Returns true if the request certainly did not leave this machine, or if the server rejected it before it read it.
/// Sending it again is safe.
bool NotSent(const grpc::Status& status);
/// Returns whether the server demands a new token (Authenticate).
bool TokenExpired(const grpc::Status& status);

}  // namespace apimesh::etcd
