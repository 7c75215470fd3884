#include "lib/mesh/watch/line_reader.h"

namespace apimesh::mesh {

Task<bool> LineReader::WriteHead(int code, Headers) {
  code_ = code;
  co_return true;
}

Task<bool> LineReader::Write(std::vector<SharedBytes> pieces) {
  if (code_ != 200) co_return true;
  const std::size_t looked_at = rest_.size();
  for (const SharedBytes& piece : pieces) rest_.append(piece.View());
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n', looked_at); end != rest_.npos; end = rest_.find('\n', begin)) {
    const bool go_on = line_(std::string_view(rest_).substr(begin, end - begin));
    begin = end + 1;
    if (!go_on) co_return false;
  }
  rest_.erase(0, begin);
  co_return true;
}

}  // namespace apimesh::mesh
