#pragma once

#include "lib/etcd/client.h"
#include "lib/h2/status.h"

namespace apimesh::etcd {

enum class CallKind { kRead, kWrite };

/// What a failed call means. A write that may have reached the server is kAmbiguous unless the server says that it
/// was refused.
Error ErrorFrom(const h2::Status& status, CallKind kind);

/// The request certainly did not leave this machine or was turned away at the door: sending it again is safe.
bool NotSent(const h2::Status& status);
/// The server wants a fresh token (Authenticate).
bool TokenExpired(const h2::Status& status);

}  // namespace apimesh::etcd
