#pragma once

#include <string>
#include <string_view>

namespace apimesh::launcher {

/// Returns the path of a program in the folders of $PATH; empty if there is none.
std::string FindProgram(std::string_view name);
/// Returns the path of Envoy from $APIMESH_ENVOY (set by ./apimesh) or from $PATH; empty if there is none.
std::string FindEnvoy();

}  // namespace apimesh::launcher
