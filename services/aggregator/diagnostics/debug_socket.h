#pragma once

#include <memory>

#include "services/aggregator/diagnostics/diagnostics.h"
#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

/// The last filter of --debug-socket-path: answers /debug/pprof and /debug/flags, and 404 for all other paths. The
/// socket has no authentication: the mode of its file decides who can connect.
std::shared_ptr<Filter> MakeDebugSocket(std::shared_ptr<Diagnostics> diagnostics);

}  // namespace apimesh::aggregator
