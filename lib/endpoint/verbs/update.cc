#include "lib/endpoint/input/decode.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/endpoint/write/update_pipeline.h"
#include "lib/endpoint/write/write.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/scale.h"
#include "lib/tracing/span.h"

namespace apimesh::endpoint {
namespace {

/// Returns the object with the replicas of the Scale in the request.
meta::Result<meta::Object> Rescale(const registry::ScalePaths& paths, const meta::Object& scale,
                                   const meta::Object& current) {
  meta::Object object = current;
  RETURN_IF_ERROR(registry::ApplyScale(scale, object, paths));
  if (!scale.ResourceVersion().empty()) object.SetMeta("resourceVersion", scale.ResourceVersion());
  return object;
}

}  // namespace

Task<Answer> Update(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(WriteOptions options, ParseWriteOptions(request->query, WriteKind::kUpdate));
  tracing::Event(request->ctx.Span(), "About to convert to expected version");
  ASSIGN_OR_CO_RETURN(meta::Object object, DecodeBody(*request, options.field_validation));
  tracing::Event(request->ctx.Span(), "Conversion done");
  CO_RETURN_IF_ERROR(registry::MatchNamespace(object, request->ObjectNamespace()));
  CO_RETURN_IF_ERROR(CheckName(*request, object));
  DropDuplicateOwners(*request, object, false);

  UpdateInput input;
  input.options = std::move(options);
  if (!object.Uid().empty()) input.preconditions.uid = std::string(object.Uid());
  input.desired = [request, body = std::make_shared<const meta::Object>(std::move(object))](
                      const meta::Object* current) -> meta::Result<meta::Object> {
    const registry::Subresource* subresource = request->subresource;
    if (subresource && subresource->scale && current) return Rescale(*subresource->scale, *body, *current);
    return *body;
  };
  co_return co_await RunUpdate(request, std::move(input));
}

}  // namespace apimesh::endpoint
