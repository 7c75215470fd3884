#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// Spans of requests, as OpenTelemetry defines them. It does no I/O; lib/otlp sends the spans to a collector.
namespace apimesh::tracing {

using TraceId = std::array<unsigned char, 16>;
using SpanId = std::array<unsigned char, 8>;

/// Where a request is in its trace: what the headers traceparent and tracestate of W3C Trace Context carry.
struct SpanContext {
  TraceId trace_id{};
  SpanId span_id{};
  bool sampled = false;
  std::string state;  // tracestate

  /// Whether neither id is zero.
  bool Valid() const;
};

/// Parses the two headers. The result is not Valid() if the traceparent is not; a tracestate that is not valid counts
/// as empty, as the specification demands. All flags but "sampled" are ignored.
SpanContext ParseContext(std::string_view traceparent, std::string_view tracestate);
/// Returns the traceparent of version 00.
std::string TraceParentOf(const SpanContext& context);

/// Both headers as one text: the traceparent and, if there is a tracestate, a space and the tracestate. Processes of
/// the mesh pass a context on in this form.
std::string TextOf(const SpanContext& context);
std::string JoinContext(std::string_view traceparent, std::string_view tracestate);
/// Returns traceparent and tracestate.
std::pair<std::string_view, std::string_view> SplitContext(std::string_view text);

/// Return random ids that are not zero. They are not secrets.
TraceId NewTraceId();
SpanId NewSpanId();

}  // namespace apimesh::tracing
