#pragma once

#include "lib/meta/request/request_context.h"
#include "lib/tracing/span.h"

namespace apimesh::meta {

/// What a call to another server carries on behalf of this request. A request that is not recorded here passes on the
/// context with which it arrived.
inline tracing::Carrier CarrierOf(const RequestContext& ctx) {
  return ctx.Span() ? tracing::Carrier{.span = ctx.Span(), .unrecorded = {}}
                    : tracing::Carrier{.span = nullptr, .unrecorded = ctx.TraceParent()};
}

}  // namespace apimesh::meta
