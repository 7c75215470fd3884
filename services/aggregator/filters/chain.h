#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Creates all filters in run order. `last` answers the request. Throws std::runtime_error if options are invalid.
Filters BuildChain(const FilterInputs& inputs, std::shared_ptr<Filter> last);

/// Binds the options of every filter, which are kept in `options`.
void BindFilters(flags::OptionSet& options, flags::Binder& flags);

/// Builds the chain of --debug-socket-path, which has neither authentication nor limits.
Filters BuildDebugChain(const FilterInputs& inputs, std::shared_ptr<Filter> last);

}  // namespace apimesh::aggregator
