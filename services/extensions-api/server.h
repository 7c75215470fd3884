#pragma once

#include "services/extensions-api/flags.h"

namespace apimesh::extensions_api {

/// Serves until the process is asked to stop, and returns its exit code. Throws std::runtime_error if it cannot start.
int Run(const Flags& flags, const Clock& clock);

}  // namespace apimesh::extensions_api
