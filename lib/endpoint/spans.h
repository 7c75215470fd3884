#pragma once

#include <string_view>

#include "lib/endpoint/request.h"
#include "lib/tracing/span_ptr.h"

/// The spans of a request in a group server, with the names and attributes of kube-apiserver.
namespace apimesh::endpoint {

/// A header of requests that are traced: the protocol of the client, "HTTP/1.1" or "HTTP/2.0". Clients cannot send it.
inline constexpr std::string_view kProtocolHeader = "x-apimesh-protocol";

/// Starts the span of the request's verb. Returns nullptr if the request is not traced, or for a watch that does not
/// begin with the current state.
tracing::SpanPtr VerbSpan(const ResourceRequest& request);
/// Starts the span of the encoding of a response; nullptr if the request is not traced.
tracing::SpanPtr SerializeSpan(const ResourceRequest& request);

}  // namespace apimesh::endpoint
