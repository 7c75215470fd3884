#include "lib/mesh/delegate/wire.h"

namespace apimesh::mesh {

bool WireReader::Next() {
  if (rest_.empty() || !good_) return false;
  text_ = {};
  number_ = 0;
  good_ = false;
  std::uint64_t tag = 0;
  if (!ReadVarint(rest_, tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
  field_ = static_cast<int>(tag >> 3);
  std::size_t size = 0;
  switch (tag & 7) {
    case 0: return good_ = ReadVarint(rest_, number_);
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2: {
      std::uint64_t length = 0;
      if (!ReadVarint(rest_, length) || length > rest_.size()) return false;
      text_ = rest_.substr(0, length);
      size = length;
      break;
    }
    default: return false;
  }
  if (size > rest_.size()) return false;
  rest_.remove_prefix(size);
  return good_ = true;
}

}  // namespace apimesh::mesh
