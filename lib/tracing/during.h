#pragma once

#include <utility>

#include "lib/base/async/task.h"
#include "lib/tracing/span.h"

namespace apimesh::tracing {

/// Runs a step of a traced request and ends its span.
template <class T>
Task<T> During(SpanPtr span, Task<T> work) {
  T result = co_await std::move(work);
  span->End();
  co_return result;
}

}  // namespace apimesh::tracing
