#include "lib/http2/output_queue.h"

namespace apimesh::http2 {

void OutputQueue::Copy(std::string_view bytes) {
  copied_.append(bytes);
  size_ += bytes.size();
  if (!parts_.empty() && parts_.back().data == nullptr) {
    parts_.back().size += bytes.size();
  } else {
    parts_.push_back({nullptr, bytes.size()});
  }
}

void OutputQueue::Share(std::shared_ptr<const void> owner, std::string_view bytes) {
  size_ += bytes.size();
  parts_.push_back({bytes.data(), bytes.size()});
  owners_.push_back(std::move(owner));
}

std::span<const std::string_view> OutputQueue::Pieces() {
  if (pieces_.empty() && size_ > 0) {
    const char* copied = copied_.data();
    for (const Part& part : parts_) {
      pieces_.emplace_back(part.data != nullptr ? part.data : copied, part.size);
      if (part.data == nullptr) copied += part.size;
    }
  }
  return std::span<const std::string_view>(pieces_).subspan(first_);
}

void OutputQueue::Written(std::size_t size) {
  while (first_ < pieces_.size() && size >= pieces_[first_].size()) size -= pieces_[first_++].size();
  if (first_ < pieces_.size()) return pieces_[first_].remove_prefix(size);
  parts_.clear();
  pieces_.clear();
  owners_.clear();
  copied_.clear();
  if (copied_.capacity() > kKeptCapacity) copied_.shrink_to_fit();
  size_ = first_ = 0;
}

}  // namespace apimesh::http2
