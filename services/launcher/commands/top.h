#pragma once

#include <string>

#include "lib/base/clock.h"

namespace apimesh::launcher {

struct TopOptions {
  std::string folder;
  int interval = 2;   // seconds between two readings
  bool once = false;  // print one interval and return
  bool as_json = false;
};

/// Shows CPU time and memory of the processes, and rates, latency and watches of the API groups, until it is
/// interrupted or the mesh stops. On a terminal, each interval replaces the one before. Returns the exit code.
int Top(const TopOptions& options, const Clock& clock);

}  // namespace apimesh::launcher
