#include "lib/mesh/delegate/wire.h"

namespace apimesh::mesh {

bool WireReader::Varint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::Next() {
  if (rest_.empty() || !good_) return false;
  text_ = {};
  number_ = 0;
  good_ = false;
  std::uint64_t tag = 0;
  if (!Varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
  field_ = static_cast<int>(tag >> 3);
  std::size_t size = 0;
  switch (tag & 7) {
    case 0: return good_ = Varint(number_);
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2: {
      std::uint64_t length = 0;
      if (!Varint(length) || length > rest_.size()) return false;
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
