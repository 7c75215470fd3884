#include "lib/base/pieces.h"

#include <utility>

namespace apimesh {

void Pieces::Text(std::string_view text) {
  size_ += text.size();
  copied_ += text.size();
  if (!chunk_ || chunk_->capacity() - chunk_->size() < text.size()) {
    CloseText();
    chunk_ = std::make_shared<std::string>();
    chunk_->reserve(std::max(kChunkBytes, text.size()));
    open_ = 0;
  }
  chunk_->append(text);
}

void Pieces::Shared(std::shared_ptr<const void> owner, std::string_view part) {
  if (part.size() < kCopyBelow) return Text(part);
  CloseText();
  size_ += part.size();
  pieces_.emplace_back(std::move(owner), part);
}

void Pieces::CloseText() {
  if (!chunk_ || open_ == chunk_->size()) return;
  pieces_.emplace_back(chunk_, std::string_view(*chunk_).substr(open_));
  open_ = chunk_->size();
}

std::vector<SharedBytes> Pieces::Take() {
  CloseText();
  size_ = copied_ = 0;
  return std::exchange(pieces_, {});
}

std::string Pieces::Join() {
  std::string joined;
  joined.reserve(size_);
  for (const SharedBytes& piece : Take()) joined += piece.View();
  return joined;
}

}  // namespace apimesh
