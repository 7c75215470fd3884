#pragma once

namespace apimesh::launcher {

/// The `apimesh` command line. Returns the exit code.
int RunCommandLine(int argc, char** argv);

}  // namespace apimesh::launcher
