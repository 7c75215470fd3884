#pragma once

#include "lib/endpoint/verbs/verbs.h"

namespace apimesh::endpoint {

using VerbFunction = Task<Answer> (*)(RequestPtr request);

/// Runs a verb. On a small machine, a process has one thread for all requests, and it takes tens of milliseconds to
/// decode, validate and encode an object of 1 MB. Therefore, a write whose body or whose stored object is larger than
/// 64 KiB (mesh::kLargeBodyBytes) runs on separate threads (Environment::large_requests), which run the requests of one
/// user one after the other, while the first thread serves small requests. The complete verb runs there, so everything
/// that a verb uses must be thread-safe. A request is not run if its deadline passes or its client disconnects while it
/// waits.
Task<Answer> RunVerb(VerbFunction verb, RequestPtr request);

}  // namespace apimesh::endpoint
