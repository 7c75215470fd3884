#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/grpc/status.h"
#include "lib/tracing/span.h"

namespace apimesh::grpc {

/// The span of one call with the names and attributes of otelgrpc. Without a parent, nothing is recorded.
class CallSpan {
 public:
  /// `path` is "/package.Service/Method".
  CallSpan(const tracing::SpanPtr& parent, std::string_view path, tracing::Kind kind);
  ~CallSpan() { tracing::End(span_); }
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;

  const tracing::SpanPtr& GetSpan() const { return span_; }
  /// Adds the context of the span to the metadata of a call, so that its server continues the trace.
  template <class Options>
  void AddTo(Options& options) const {
    tracing::Carrier{.span = span_, .unrecorded = {}}.AddTo(options.metadata);
  }
  explicit operator bool() const { return span_ != nullptr; }
  void Sent(std::size_t message_bytes) { Message("SENT", sent_, message_bytes); }
  void Received(std::size_t message_bytes) { Message("RECEIVED", received_, message_bytes); }
  /// The address of the server: "http(s)://host:port", "dns:///host:port" or "unix:/path".
  void Server(std::string_view target);
  void Finish(const Status& status);

 private:
  void Message(std::string_view type, std::int64_t& count, std::size_t bytes);

  tracing::SpanPtr span_;
  std::int64_t sent_ = 0, received_ = 0;
};

}  // namespace apimesh::grpc
