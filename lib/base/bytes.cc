#include "lib/base/bytes.h"

namespace apimesh {

bool StillValid(std::span<const SharedBytes> pieces) {
  const void* last = nullptr;  // most pieces are in the same memory as the piece before them
  for (const SharedBytes& piece : pieces) {
    if (!piece.Revocable() || piece.Owner().get() == last) continue;
    if (!piece.StillValid()) return false;
    last = piece.Owner().get();
  }
  return true;
}

bool CopyRevocable(std::vector<SharedBytes>& pieces) {
  if (!AnyRevocable(pieces)) return true;
  std::vector<SharedBytes> copies;
  copies.reserve(pieces.size());
  for (const SharedBytes& piece : pieces) {
    copies.push_back(piece.Revocable() ? SharedBytes(std::string(piece.View())) : piece);
  }
  const bool valid = StillValid(pieces);
  pieces = std::move(copies);
  return valid;
}

}  // namespace apimesh
