#pragma once

#include <string>
#include <vector>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// Runs the launcher as kube-apiserver: checks the flags and runs the four services until SIGTERM or SIGINT. Returns
/// the exit code.
int RunKubeApiserver(const std::vector<std::string>& arguments, const Clock& clock);

}  // namespace apimesh::launcher
