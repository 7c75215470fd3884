#include "lib/endpoint/decode.h"
#include "lib/endpoint/verbs.h"
#include "lib/endpoint/write.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/scale.h"

namespace apimesh::endpoint {
namespace {

/// What a PUT of a whole object asks for.
meta::Result<meta::Object> Replace(const RequestPtr& request, const WriteOptions& options, const meta::Object& body,
                                   const meta::Object* current) {
  meta::Object object = body;
  TrackFields(*request, options, current, object);
  return object;
}

/// What a PUT of a Scale asks for.
meta::Result<meta::Object> Rescale(const RequestPtr& request, const WriteOptions& options, const meta::Object& scale,
                                   const meta::Object* current) {
  meta::Object object = *current;
  RETURN_IF_ERROR(registry::ApplyScale(scale, object, *request->subresource->scale));
  if (!scale.ResourceVersion().empty()) object.SetMeta("resourceVersion", scale.ResourceVersion());
  TrackFields(*request, options, current, object);
  return object;
}

}  // namespace

Task<Answer> Update(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(WriteOptions options, ParseWriteOptions(request->query, WriteKind::kUpdate));
  ASSIGN_OR_CO_RETURN(meta::Object object, DecodeBody(*request, options.field_validation));
  CO_RETURN_IF_ERROR(registry::MatchNamespace(object, request->ObjectNamespace()));
  CO_RETURN_IF_ERROR(CheckName(*request, object));
  DropDuplicateOwners(*request, object, false);

  UpdateInput input;
  input.options = options;
  if (!object.Uid().empty()) input.preconditions.uid = std::string(object.Uid());
  const bool scale = request->subresource && request->subresource->scale;
  input.desired = [request, options, body = std::make_shared<const meta::Object>(std::move(object)),
                   scale](const meta::Object* current) {
    return scale ? Rescale(request, options, *body, current) : Replace(request, options, *body, current);
  };
  co_return co_await RunUpdate(request, std::move(input));
}

}  // namespace apimesh::endpoint
