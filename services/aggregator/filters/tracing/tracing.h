#pragma once

#include <string_view>

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Starts the span of the request, with the name and the attributes of kube-apiserver. A user in system:masters or
/// system:monitoring continues the trace of the headers traceparent and tracestate; for all others a trace begins,
/// which refers to that of the headers. nullptr if tracing is off.
std::shared_ptr<Filter> MakeTracing(const FilterInputs& inputs);

/// Records the time from the filter `name` to the end of the request as a span of that name. nullptr if tracing is off.
std::shared_ptr<Filter> MakeFilterSpan(std::string_view name);

/// The same above the filter MakeTracing(). The span is the first of a trace that has no other spans, unless the
/// request continues it.
std::shared_ptr<Filter> MakeFirstSpan(std::string_view name);

}  // namespace apimesh::aggregator
