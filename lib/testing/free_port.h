#pragma once

namespace apimesh::testing {

/// Returns a TCP port of the loopback address that is currently free.
int FreePort();

}  // namespace apimesh::testing
