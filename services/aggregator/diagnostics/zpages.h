#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/codec/page_negotiation.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::aggregator {

using FlagValues = std::map<std::string, std::string>;  // by the name of the flag

/// What /statusz reports.
struct ProcessStatus {
  WallTime started;
  std::vector<std::string> paths;  // of other pages for diagnosis, sorted
};

// Each returns the page in the form that the Accept header names, or an error. `pretty`: JSON is indented.
mesh::Response StatuszPage(std::string_view accept, bool pretty, const ProcessStatus& status, WallTime now);
mesh::Response FlagzPage(std::string_view accept, bool pretty, const FlagValues& flags);

}  // namespace apimesh::aggregator
