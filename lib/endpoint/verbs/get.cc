#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/registry/scale.h"
#include "lib/tracing/span.h"

namespace apimesh::endpoint {

Task<Answer> Get(RequestPtr request) {
  if (request->query.Bool("export").value_or(false)) {
    co_return meta::BadRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  ASSIGN_OR_CO_RETURN(storage::Key key, request->KeyOf(request->Name()));
  storage::GetOptions options{.resource_version = std::string(request->query.First("resourceVersion"))};
  tracing::Event(request->ctx.Span(), "About to Get from storage");
  ASSIGN_OR_CO_RETURN(storage::EntryPtr entry,
                      co_await request->served->store->Get(request->ctx, std::move(key), std::move(options)));
  if (request->subresource && request->subresource->scale) {
    ASSIGN_OR_CO_RETURN(const meta::json::value value, codec::ParseJson(entry->Json().View(), meta::NewArena()));
    const meta::Object object(value.get_object());
    if (const registry::ScalePaths& paths = *request->subresource->scale; !registry::HasReplicas(object, paths)) {
      co_return meta::InternalError(
          fmt::format("the spec replicas field {} does not exist", meta::Quoted("." + paths.spec_replicas)));
    }
    co_return ObjectResponse(*request, 200, registry::ScaleOf(object, *request->subresource->scale));
  }
  co_return ObjectResponse(*request, 200, entry);
}

}  // namespace apimesh::endpoint
