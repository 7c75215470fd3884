#include "lib/tracing/tracer.h"

#include <mutex>
#include <vector>

namespace apimesh::tracing {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::atomic<Tracer*> current = nullptr;

/// The tracers of this process. They are never destroyed, because a span may end at any time.
void Keep(std::shared_ptr<Tracer> tracer) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::shared_ptr<Tracer>>();
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(tracer));
}

}  // namespace

bool Sampler::Samples(const TraceId& id) const {
  if (per_million >= kMillion) return true;
  if (per_million <= 0) return false;
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i < 16; ++i) bits = bits << 8 | id[i];
  const double bound = static_cast<double>(per_million) / kMillion * static_cast<double>(1ULL << 63);
  return bits >> 1 < static_cast<std::uint64_t>(bound);
}

Tracer::Root Tracer::StartRoot(const SpanContext& parent, std::string name, Kind kind, std::string_view scope) const {
  Root root;
  root.context.span_id = NewSpanId();
  if (parent.Valid()) {
    root.context.trace_id = parent.trace_id;
    root.context.sampled = parent.sampled;
    root.context.state = parent.state;
  } else {
    root.context.trace_id = NewTraceId();
    root.context.sampled = sampler_.Samples(root.context.trace_id);
  }
  if (!root.context.sampled) return root;
  SpanData data;
  data.context = root.context;
  if (parent.Valid()) data.parent = parent.span_id;
  data.name = std::move(name);
  data.scope = scope;
  data.kind = kind;
  data.start = clock_.Now();
  root.span = std::make_shared<Span>(*this, std::move(data), false);
  return root;
}

SpanPtr Tracer::Remote(const SpanContext& parent) const {
  if (!parent.Valid() || !parent.sampled) return nullptr;
  SpanData data;
  data.context = parent;
  return std::make_shared<Span>(*this, std::move(data), true);
}

Tracer* Current() { return current.load(std::memory_order_acquire); }

void Install(std::shared_ptr<Tracer> tracer) {
  Tracer* const installed = tracer.get();
  Keep(std::move(tracer));
  current.store(installed, std::memory_order_release);
}

void Uninstall() { current.store(nullptr, std::memory_order_release); }

}  // namespace apimesh::tracing
