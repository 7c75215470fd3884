#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <string>
#include <utility>
#include <vector>

namespace apimesh::rpc {

/// Settings of channels and servers alike. Measured with delegate_bench: together they take a quarter off the CPU of a
/// call. Also makes those of the process, once.
std::vector<std::pair<std::string, int>> SharedSettings();

}  // namespace apimesh::rpc
