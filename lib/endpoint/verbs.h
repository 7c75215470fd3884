#pragma once

#include "lib/endpoint/request.h"
#include "lib/meta/api_error.h"
#include "lib/rpc/delegate.h"

/// One function a verb, one file each. All work for every kind, built-in or custom.
namespace apimesh::endpoint {

/// Whether a Content-Type is one of the four kinds of patches.
bool IsPatchType(std::string_view content_type);

using Answer = meta::Result<rpc::Response>;

Task<Answer> Get(RequestPtr request);
/// A list whose body is small enough to be sent whole; `use_stream` is set in the answer otherwise.
Task<Answer> List(RequestPtr request);
Task<meta::Result<>> StreamList(RequestPtr request, rpc::ResponseStream& stream);
/// Ends when the client goes, the time is over or the watch breaks. An error: nothing has been sent yet.
Task<meta::Result<>> Watch(RequestPtr request, rpc::ResponseStream& stream);
Task<Answer> Create(RequestPtr request);
Task<Answer> Update(RequestPtr request);
Task<Answer> Patch(RequestPtr request);
Task<Answer> Delete(RequestPtr request);
Task<Answer> DeleteCollection(RequestPtr request);

}  // namespace apimesh::endpoint
