#include "lib/tracing/span.h"

#include "lib/tracing/tracer.h"

namespace apimesh::tracing {
namespace {

// The limits of the OpenTelemetry SDK.
constexpr std::size_t kMaxAttributes = 128, kMaxEvents = 128;

}  // namespace

Span::Span(const Tracer& tracer, SpanData data, bool remote) : tracer_(tracer), data_(std::move(data)), done_(remote) {}

SpanPtr Span::Child(std::string name, Attributes attributes, Kind kind, std::string_view scope) const {
  SpanData data;
  data.context = data_.context;
  data.context.span_id = NewSpanId();
  data.parent = data_.context.span_id;
  data.name = std::move(name);
  data.scope = scope;
  data.kind = kind;
  data.start = tracer_.GetClock().Now();
  data.attributes = std::move(attributes);
  return std::make_shared<Span>(tracer_, std::move(data), false);
}

void Span::Set(std::string_view key, Value value) {
  const std::lock_guard lock(mutex_);
  if (!Open()) return;
  for (auto& [known, old] : data_.attributes) {
    if (known == key) {
      old = std::move(value);
      return;
    }
  }
  if (data_.attributes.size() < kMaxAttributes) data_.attributes.emplace_back(key, std::move(value));
}

void Span::StartedAt(WallTime time) {
  const std::lock_guard lock(mutex_);
  if (Open()) data_.start = time;
}

void Span::AddEvent(std::string_view name, Attributes attributes) {
  const WallTime now = tracer_.GetClock().Now();
  const std::lock_guard lock(mutex_);
  if (!Open() || data_.events.size() >= kMaxEvents) return;
  data_.events.push_back({name, now, std::move(attributes)});
}

void Span::Link(const SpanContext& other) {
  const std::lock_guard lock(mutex_);
  if (Open()) data_.links.push_back(other);
}

void Span::Fail(std::string error) {
  const std::lock_guard lock(mutex_);
  if (!Open()) return;
  data_.failed = true;
  data_.error = std::move(error);
}

void Span::End() {
  SpanData ended;
  {
    const std::lock_guard lock(mutex_);
    if (!Open()) return;
    done_ = true;
    const SpanContext context = data_.context;  // still needed by children
    ended = std::move(data_);
    data_ = SpanData();
    data_.context = context;
  }
  ended.end = tracer_.GetClock().Now();
  tracer_.GetSink().Take(std::move(ended));
}

void Span::Drop() {
  const std::lock_guard lock(mutex_);
  done_ = true;
}

}  // namespace apimesh::tracing
