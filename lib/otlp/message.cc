#include "lib/otlp/message.h"

#include <chrono>

#include "proto/opentelemetry/v1/trace.pb.h"

namespace apimesh::otlp {
namespace {

namespace pb = opentelemetry::proto::collector::trace::v1;

/// The flag of a sampled span.
constexpr std::uint32_t kSampled = 1;

std::uint64_t NanosOf(WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

template <std::size_t N>
std::string BytesOf(const std::array<unsigned char, N>& id) {
  return {id.begin(), id.end()};
}

void Add(std::string_view key, const tracing::Value& value, pb::KeyValue& out) {
  out.set_key(std::string(key));
  if (const auto* text = std::get_if<std::string>(&value)) out.mutable_value()->set_string_value(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) out.mutable_value()->set_int_value(*number);
  if (const auto* flag = std::get_if<bool>(&value)) out.mutable_value()->set_bool_value(*flag);
}

void Fill(const tracing::SpanData& span, pb::Span& out) {
  out.set_trace_id(BytesOf(span.context.trace_id));
  out.set_span_id(BytesOf(span.context.span_id));
  out.set_trace_state(span.context.state);
  if (span.parent != tracing::SpanId{}) out.set_parent_span_id(BytesOf(span.parent));
  out.set_name(span.name);
  out.set_kind(static_cast<pb::Span::SpanKind>(span.kind));
  out.set_start_time_unix_nano(NanosOf(span.start));
  out.set_end_time_unix_nano(NanosOf(span.end));
  out.set_flags(kSampled);
  for (const auto& [key, value] : span.attributes) Add(key, value, *out.add_attributes());
  for (const tracing::SpanData::Event& event : span.events) {
    pb::Span::Event& added = *out.add_events();
    added.set_time_unix_nano(NanosOf(event.time));
    added.set_name(std::string(event.name));
    for (const auto& [key, value] : event.attributes) Add(key, value, *added.add_attributes());
  }
  for (const tracing::SpanContext& link : span.links) {
    pb::Span::Link& added = *out.add_links();
    added.set_trace_id(BytesOf(link.trace_id));
    added.set_span_id(BytesOf(link.span_id));
    added.set_trace_state(link.state);
    added.set_flags(link.sampled ? kSampled : 0);
  }
  if (!span.failed) return;
  out.mutable_status()->set_code(pb::Status::STATUS_CODE_ERROR);
  out.mutable_status()->set_message(span.error);
}

}  // namespace

std::string MessageOf(const std::vector<tracing::SpanData>& spans,
                      const std::vector<std::pair<std::string, std::string>>& resource) {
  pb::ExportTraceServiceRequest request;
  pb::ResourceSpans& all = *request.add_resource_spans();
  for (const auto& [key, value] : resource) Add(key, value, *all.mutable_resource()->add_attributes());
  for (const tracing::SpanData& span : spans) {
    pb::ScopeSpans* group = nullptr;
    for (pb::ScopeSpans& known : *all.mutable_scope_spans()) {
      if (known.scope().name() == span.scope) group = &known;
    }
    if (!group) {
      group = all.add_scope_spans();
      group->mutable_scope()->set_name(std::string(span.scope));
    }
    Fill(span, *group->add_spans());
  }
  return request.SerializeAsString();
}

}  // namespace apimesh::otlp
