#pragma once

#include "services/extensions-api/flags.h"

namespace apimesh::extensions_api {

/// Serves until the process is told to stop; returns its exit code. Throws std::runtime_error if it can't start.
int Run(const Flags& flags);

}  // namespace apimesh::extensions_api
