#pragma once

#include "lib/endpoint/verbs.h"

namespace apimesh::endpoint {

using Verb = Task<Answer> (*)(RequestPtr request);

/// Runs a verb. A process of a small machine has one thread for all requests, and it takes tens of milliseconds to decode,
/// validate and encode an object of a megabyte. So a write whose body or whose stored object is larger than 64 KiB
/// (rpc::kLargeBodyBytes) runs on a separate thread (Environment::large_requests), one such request after the other, while the
/// first thread serves the small ones. It runs there as a whole: everything below a verb may be used from any thread.
/// A request whose deadline passes, or whose client goes away, before its turn comes is not run.
Task<Answer> RunVerb(Verb verb, RequestPtr request);

/// The error for a request that nobody waits for any more.
meta::ApiError AbandonedError();

}  // namespace apimesh::endpoint
