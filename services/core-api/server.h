#pragma once

#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// Serves until the process is told to stop; returns its exit code. Throws std::runtime_error if it can't start.
int Run(const Flags& flags);

}  // namespace apimesh::core_api
