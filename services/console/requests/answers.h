#pragma once

#include <string>

#include "lib/http/refusal.h"
#include "lib/http/server.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::console {

/// Adds the headers of responses with data. A browser that opens such a response as a page runs nothing in it, and
/// keeps no copy.
void AddDataHeaders(http::Headers& headers);
/// Adds the headers of the pages: their scripts, styles, images and requests have the origin of the console only.
void AddPageHeaders(http::Headers& headers);

/// Sends a Kubernetes Status.
Task<> SendError(http::ResponseWriter& writer, meta::ApiError error);
/// Sends a JSON document. `more` are further headers.
Task<> SendJson(http::ResponseWriter& writer, int code, std::string document, http::Headers more);
/// The body of requests that the server itself refuses, also a Status.
http::RefusalBody ErrorBody(const http::Refusal& refusal);

}  // namespace apimesh::console
