#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/tracing/span.h"

namespace apimesh::otlp {

/// Returns an encoded ExportTraceServiceRequest with these spans, grouped by scope.
std::string MessageOf(const std::vector<tracing::SpanData>& spans,
                      const std::vector<std::pair<std::string, std::string>>& resource);

}  // namespace apimesh::otlp
