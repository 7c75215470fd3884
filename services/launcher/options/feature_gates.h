#pragma once

#include <string_view>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// Returns the value that --feature-gates sets, or the default. The gate must exist.
bool FeatureEnabled(const CommandLine& flags, std::string_view name);

}  // namespace apimesh::launcher
