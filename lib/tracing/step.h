#pragma once

#include <utility>

#include "lib/tracing/span.h"

namespace apimesh::tracing {

/// A step of a request. Its span, if the request is traced, ends with the scope.
class Step {
 public:
  explicit Step(SpanPtr span) : span_(std::move(span)) {}
  Step(const SpanPtr& parent, std::string_view name) : span_(Start(parent, name)) {}
  ~Step() { tracing::End(span_); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// nullptr: the request is not traced.
  const SpanPtr& GetSpan() const { return span_; }
  explicit operator bool() const { return span_ != nullptr; }
  Span* operator->() const { return span_.get(); }
  void Event(std::string_view name) const { tracing::Event(span_, name); }

 private:
  const SpanPtr span_;
};

}  // namespace apimesh::tracing
