#pragma once

#include "lib/endpoint/request.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"

/// One function per verb, each in its own file. All of them serve built-in and custom resources.
namespace apimesh::endpoint {

/// Returns whether a Content-Type is one of the four patch types.
bool IsPatchType(std::string_view content_type);

using Answer = meta::Result<mesh::Response>;

Task<Answer> Get(RequestPtr request);
/// Sends a list: a short one as one message, a longer one in pieces. If it returns an error, nothing has been sent.
Task<meta::Result<>> StreamList(RequestPtr request, mesh::ResponseStream& stream);
/// Returns when the client disconnects, the timeout expires or the watch fails. If it returns an error, nothing has
/// been sent.
Task<meta::Result<>> Watch(RequestPtr request, mesh::ResponseStream& stream);
Task<Answer> Create(RequestPtr request);
Task<Answer> Update(RequestPtr request);
Task<Answer> Patch(RequestPtr request);
Task<Answer> Delete(RequestPtr request);
Task<Answer> DeleteCollection(RequestPtr request);

}  // namespace apimesh::endpoint
