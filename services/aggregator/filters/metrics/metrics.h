#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Counts requests and measures their duration and the size of their responses (apiserver_request_*). Writes a line to
/// the log about each slow request (edge/latency.h).
std::shared_ptr<Filter> MakeMetrics(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
