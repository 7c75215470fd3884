#include "services/authn-authz/state/stream_readers.h"

namespace apimesh::authn_authz {

Task<bool> LineReader::WriteHead(int code, rpc::Headers) {
  code_ = code;
  co_return true;
}

Task<bool> LineReader::Write(std::vector<SharedBytes> pieces) {
  const std::size_t looked_at = rest_.size();
  for (const SharedBytes& piece : pieces) rest_.append(piece.View());
  if (code_ != 200 || !line_) co_return true;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n', looked_at); end != rest_.npos; end = rest_.find('\n', begin)) {
    const bool go_on = line_(std::string_view(rest_).substr(begin, end - begin));
    begin = end + 1;
    if (!go_on) co_return false;
  }
  rest_.erase(0, begin);
  co_return true;
}

}  // namespace apimesh::authn_authz
