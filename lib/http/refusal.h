#pragma once

#include "lib/http/message_parser.h"
#include "lib/http/server.h"
#include "lib/meta/api_error.h"

/// Answers that need no handler, the same over HTTP/1.1 and HTTP/2.
namespace apimesh::http {

/// As a Status, with Retry-After if it says when.
Task<bool> SendError(ResponseWriter& writer, meta::ApiError error);
/// To a request that can't be read, or is larger than `limits`.
Task<bool> SendRefusal(ResponseWriter& writer, ParseFailure failure, const Limits& limits);

}  // namespace apimesh::http
