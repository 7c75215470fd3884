#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lib/tracing/span.h"

namespace apimesh::tracing {

/// Receives the spans that have ended. Thread-safe. Take() must not block.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Take(SpanData span) = 0;
};

/// How often a trace that begins here is sampled. A request that belongs to a trace follows the decision of its parent.
struct Sampler {
  std::int64_t per_million = 0;

  /// The decision depends on the trace id only, as that of other OpenTelemetry SDKs.
  bool Samples(const TraceId& id) const;
};

/// Starts the traces of a process. Thread-safe. It must outlive its spans.
class Tracer {
 public:
  Tracer(const Clock& clock, Sampler sampler, std::shared_ptr<Sink> sink)
      : clock_(clock), sampler_(sampler), sink_(std::move(sink)) {}

  /// The first span of a request in this process, and what the request carries onwards.
  struct Root {
    SpanPtr span;         // nullptr: not sampled
    SpanContext context;  // of the span, also if that is not recorded
  };
  /// Starts a span of `kind`. `parent` is followed if it is valid; otherwise a trace begins.
  Root StartRoot(const SpanContext& parent, std::string name, Kind kind, std::string_view scope) const;
  /// Returns the parent of spans in this process that another process has started; nullptr if it is not sampled.
  SpanPtr Remote(const SpanContext& parent) const;

  const Clock& GetClock() const { return clock_; }
  Sink& GetSink() const { return *sink_; }

 private:
  const Clock& clock_;
  const Sampler sampler_;
  const std::shared_ptr<Sink> sink_;
};

/// The tracer of this process; nullptr if tracing is off.
Tracer* Current();
/// Sets the tracer of this process. The previous one is kept, because spans may still use it.
void Install(std::shared_ptr<Tracer> tracer);
/// Switches tracing off for requests that begin from now on.
void Uninstall();

/// Returns the remote parent that a text names (see TextOf()); nullptr if it is not sampled, or tracing is off.
inline SpanPtr Remote(std::string_view context) {
  Tracer* const tracer = Current();
  if (!tracer) return nullptr;
  const auto [traceparent, tracestate] = SplitContext(context);
  return tracer->Remote(ParseContext(traceparent, tracestate));
}

}  // namespace apimesh::tracing
