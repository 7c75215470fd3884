#pragma once

#include <vector>

#include "lib/base/async/task.h"

namespace apimesh {

/// Runs tasks at the same time on the executor of the caller and returns when all have ended. If tasks throw, one of
/// the exceptions is thrown then.
Task<> RunAll(std::vector<Task<>> tasks);

}  // namespace apimesh
