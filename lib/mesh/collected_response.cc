#include "lib/mesh/collected_response.h"

#include <iterator>

namespace apimesh::mesh {

Task<bool> CollectedResponse::WriteHead(int code, Headers headers) {
  started_ = true;
  response_.code = code;
  response_.headers = std::move(headers);
  co_return true;
}

Task<bool> CollectedResponse::Write(std::vector<SharedBytes> pieces) {
  response_.body.insert(response_.body.end(), std::make_move_iterator(pieces.begin()),
                        std::make_move_iterator(pieces.end()));
  co_return true;
}

Task<bool> CollectedResponse::WriteComplete(Response response) {
  started_ = true;
  response_ = std::move(response);
  co_return true;
}

}  // namespace apimesh::mesh
