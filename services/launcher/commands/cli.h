#pragma once

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// Runs the `apimesh` command line. Returns the exit code.
int RunCommandLine(int argc, char** argv, const Clock& clock);

}  // namespace apimesh::launcher
