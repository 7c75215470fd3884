#pragma once

#include <string>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// Checks the machine and a mesh, and prints each finding with what to do. `port` is checked if the mesh does not run.
/// Returns exit code 0 if there is no problem; warnings are no problems.
int Doctor(const std::string& folder, int port, bool as_json, const Clock& clock);

}  // namespace apimesh::launcher
