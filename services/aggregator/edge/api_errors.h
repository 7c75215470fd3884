#pragma once

#include "lib/http/refusal.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::aggregator {

/// Converts a refusal of the HTTP server to an API error.
meta::ApiError ApiErrorOf(const http::Refusal& refusal);

/// Returns the response body for a refused request. A request that is not valid HTTP gets plain text, as from the HTTP
/// server of Go; all other refusals get a Status.
http::RefusalBody StatusBody(const http::Refusal& refusal);

}  // namespace apimesh::aggregator
