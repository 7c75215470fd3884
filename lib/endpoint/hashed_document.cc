#include "lib/endpoint/hashed_document.h"

#include "lib/endpoint/input/query.h"

namespace apimesh::endpoint {

mesh::Response AnswerHashedDocument(const mesh::Request& request, const std::string& hash, std::string content_type,
                                    const std::function<SharedBytes()>& document) {
  mesh::Response response;
  response.headers.emplace_back("vary", "Accept");
  response.headers.emplace_back("etag", '"' + hash + '"');
  // The content at a URL with a hash never changes.
  if (Query(request.query).First("hash") == hash) response.headers.emplace_back("cache-control", "public, immutable");
  if (request.Header("if-none-match").find(hash) != std::string_view::npos) {
    response.code = 304;
    return response;
  }
  response.headers.emplace_back("content-type", std::move(content_type));
  response.body.push_back(document());
  return response;
}

}  // namespace apimesh::endpoint
