#pragma once

#include <functional>
#include <string>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::endpoint {

/// Answers a request for an OpenAPI document. `hash` identifies its content: it is the ETag, a request that has it in
/// If-None-Match gets 304, and at a URL with the parameter `hash` the document may be cached without limit. `document`
/// is called only if the document is sent.
mesh::Response AnswerHashedDocument(const mesh::Request& request, const std::string& hash, std::string content_type,
                                    const std::function<SharedBytes()>& document);

}  // namespace apimesh::endpoint
