#pragma once

namespace apimesh::testing {

/// A TCP port of the loopback address that nobody listens on at the moment.
int FreePort();

}  // namespace apimesh::testing
