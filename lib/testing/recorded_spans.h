#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/tracing/tracer.h"

namespace apimesh::testing {

/// Keeps the spans that have ended, in this order.
class RecordedSpans final : public tracing::Sink {
 public:
  void Take(tracing::SpanData span) override { spans.push_back(std::move(span)); }
  /// Returns the text of an attribute of a span; "" if there is none.
  static std::string TextOf(const tracing::SpanData& span, std::string_view key) {
    for (const auto& [name, value] : span.attributes) {
      if (name != key) continue;
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    }
    return "";
  }
  std::vector<tracing::SpanData> spans;
};

}  // namespace apimesh::testing
