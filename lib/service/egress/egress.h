#pragma once

#include <string>

#include "lib/base/clock.h"
#include "lib/service/metrics.h"

namespace apimesh::service {

/// Reads the file of --egress-selector-config-file and sets the dialers of the process (lib/http/proxy/dialer.h). Does
/// nothing if `path` is empty. `metrics` and `clock` must outlive all connections. Throws std::invalid_argument.
void UseEgressFile(const std::string& path, Metrics& metrics, const Clock& clock);

}  // namespace apimesh::service
