#pragma once

#include <string>
#include <string_view>

#include "lib/http/client.h"
#include "lib/tracing/span.h"

namespace apimesh::http {

/// The span of a request to a server outside of the mesh, with the names and attributes of otelhttp.
class ClientSpan {
 public:
  /// Adds traceparent and tracestate to `headers`: of the span or, if the request is not traced here, of the carrier.
  /// `url` is "https://host:port/path?query".
  ClientSpan(const tracing::Carrier& carrier, std::string_view method, std::string_view url, Headers& headers);
  ~ClientSpan() { tracing::End(span_); }
  ClientSpan(const ClientSpan&) = delete;
  ClientSpan& operator=(const ClientSpan&) = delete;

  /// Ends the span with the status of a response, or with an error.
  void Finish(int code);
  void Fail(std::string error);

 private:
  tracing::SpanPtr span_;
};

/// Returns the host and the port of "host:port", of which both may be missing. The port is 0 if there is none.
std::pair<std::string, int> SplitHostAndPort(std::string_view text);

}  // namespace apimesh::http
