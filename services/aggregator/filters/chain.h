#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Creates all filters in run order. `last` answers the request. Throws std::runtime_error if options are invalid.
Filters BuildChain(const FilterInputs& inputs, std::shared_ptr<Filter> last);

/// Binds the options of every filter, which are kept in `options`.
void BindFilters(flags::OptionSet& options, flags::Binder& flags);

}  // namespace apimesh::aggregator
