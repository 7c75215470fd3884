#pragma once

#include <string>

#include "services/aggregator/diagnostics/zpages.h"
#include "services/aggregator/options.h"

namespace apimesh::aggregator {

/// The values of all flags: those in --flag-values-file or, without it, those of this process. Throws
/// std::runtime_error if the file is not an object with texts.
FlagValues ReadFlagValues(Options options);

}  // namespace apimesh::aggregator
