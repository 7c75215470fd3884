#pragma once

#include <memory>

namespace apimesh::tracing {

class Span;
/// A span that is recorded, or the remote parent of such spans. nullptr: the request is not traced. Code that adds
/// details tests the pointer first, so that a request that is not traced costs one branch.
using SpanPtr = std::shared_ptr<Span>;

}  // namespace apimesh::tracing
