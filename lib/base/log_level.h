#pragma once

#include "lib/base/log.h"

namespace apimesh::log {

/// Changes the lowest level that is logged, until the process ends. May be called from any thread.
void SetLevel(Level level);

}  // namespace apimesh::log
