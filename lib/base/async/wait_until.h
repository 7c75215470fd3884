#pragma once

#include <functional>

#include "lib/base/async/task.h"

namespace apimesh {

/// Returns when `done` returns true. It is called every few milliseconds, so that it must be cheap. Use it for
/// conditions of the start of a process, for which there is no notification.
Task<> WaitUntil(std::function<bool()> done);

}  // namespace apimesh
