#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/clock.h"
#include "lib/tracing/context.h"
#include "lib/tracing/span_ptr.h"

namespace apimesh::tracing {

class Tracer;

using Value = std::variant<std::string, std::int64_t, bool>;
using Attributes = std::vector<std::pair<std::string_view, Value>>;  // the keys are literals

enum class Kind { kInternal = 1, kServer = 2, kClient = 3 };

/// What a collector receives of a span.
struct SpanData {
  struct Event {
    std::string_view name;  // a literal
    WallTime time;
    Attributes attributes;
  };
  SpanContext context;
  SpanId parent{};  // zero: none
  std::string name;
  std::string_view scope;  // the instrumentation scope; a literal
  Kind kind = Kind::kInternal;
  WallTime start, end;
  Attributes attributes;
  std::vector<Event> events;
  std::vector<SpanContext> links;
  bool failed = false;
  std::string error;
};

/// A named and timed step of a request. Thread-safe. It ends with End(), or when the last pointer to it is released.
class Span {
 public:
  Span(const Tracer& tracer, SpanData data, bool remote);
  ~Span() { End(); }
  Span(const Span&) = delete;

  const SpanContext& Context() const { return data_.context; }
  /// Starts a child.
  SpanPtr Child(std::string name, Attributes attributes = {}, Kind kind = Kind::kInternal,
                std::string_view scope = kScope) const;
  void Set(std::string_view key, Value value);
  /// Replaces the time at which the span started.
  void StartedAt(WallTime time);
  void AddEvent(std::string_view name, Attributes attributes = {});
  /// Refers to a span of another trace.
  void Link(const SpanContext& other);
  /// Sets the status "error".
  void Fail(std::string error);
  /// Sends the span to the sink of its tracer. Later changes have no effect.
  void End();
  /// Discards the span: it is never sent. Its children keep it as their parent.
  void Drop();

  /// The scope of spans that kube-apiserver starts with its own tracing package.
  static constexpr std::string_view kScope = "k8s.io/component-base/tracing";

 private:
  bool Open() const { return !done_; }

  const Tracer& tracer_;
  std::mutex mutex_;
  SpanData data_;  // its context is constant; the rest is guarded by mutex_
  bool done_;      // guarded by mutex_
};

// Scopes of spans that instrumented libraries of kube-apiserver start.
inline constexpr std::string_view kHttpScope = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp";
inline constexpr std::string_view kGrpcScope =
    "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc";

/// What a call to another server carries: the span to which it belongs or, of a request that is not recorded here, the
/// context with which it came (see TextOf()).
struct Carrier {
  SpanPtr span;
  std::string unrecorded;

  /// Returns the context as one text; "" if there is none.
  std::string Text() const { return span ? TextOf(span->Context()) : unrecorded; }
  /// Adds traceparent and tracestate to a list of pairs.
  template <class Headers>
  void AddTo(Headers& headers) const {
    if (!span && unrecorded.empty()) return;
    const std::string text = Text();
    const auto [parent, state] = SplitContext(text);
    headers.emplace_back("traceparent", parent);
    if (!state.empty()) headers.emplace_back("tracestate", state);
  }
};

// The same for a request that may not be traced.
inline SpanPtr Start(const SpanPtr& parent, std::string_view name) {
  return parent ? parent->Child(std::string(name)) : nullptr;
}
inline void Event(const SpanPtr& span, std::string_view name) {
  if (span) span->AddEvent(name);
}
inline void End(const SpanPtr& span) {
  if (span) span->End();
}

}  // namespace apimesh::tracing
