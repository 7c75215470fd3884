#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// The samples of a process: its name, and one line per stack as in service::kCpuPath.
using ProcessSamples = std::pair<std::string, std::string>;

/// Writes CPU profiles in the format of pprof (profile.proto, not compressed). The outermost function of every stack is
/// the name of its process, which is also the label "process". Lines that are malformed are left out.
std::string WriteProfile(const std::vector<ProcessSamples>& processes, int samples_per_second, WallTime start,
                         std::chrono::nanoseconds duration);

}  // namespace apimesh::aggregator
