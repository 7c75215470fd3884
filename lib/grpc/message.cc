#include "lib/grpc/message.h"

#include <algorithm>
#include <cstring>

namespace apimesh::grpc {

http2::Prefix MessagePrefix(std::size_t size) {
  http2::Prefix prefix;
  prefix.size = 5;
  for (int i = 0; i < 4; ++i) prefix.bytes[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  return prefix;
}

MessageReader::Outcome MessageReader::Read(std::string_view& data) {
  if (std::exchange(joined_, false)) partial_.clear();
  if (!in_message_) {
    const std::size_t part = std::min(kPrefixBytes - prefix_size_, data.size());
    std::memcpy(prefix_ + prefix_size_, data.data(), part);
    prefix_size_ += part;
    data.remove_prefix(part);
    if (prefix_size_ < kPrefixBytes) return Outcome::kIncomplete;
    const auto* head = reinterpret_cast<const unsigned char*>(prefix_);
    size_ = std::size_t{head[1]} << 24 | std::size_t{head[2]} << 16 | std::size_t{head[3]} << 8 | head[4];
    if (head[0] != 0) return Outcome::kCompressed;
    if (size_ > max_message_bytes_) return Outcome::kTooLarge;
    in_message_ = true;
    prefix_size_ = 0;
  }
  const std::size_t part = std::min(size_ - partial_.size(), data.size());
  const std::string_view bytes = data.substr(0, part);
  data.remove_prefix(part);
  if (part == size_) {
    view_ = bytes;
  } else {
    // The announced size is not trusted, so memory is not reserved for all of it.
    if (partial_.empty()) partial_.reserve(std::min<std::size_t>(size_, 1 << 20));
    partial_.append(bytes);
    if (partial_.size() < size_) return Outcome::kIncomplete;
    view_ = partial_;
    joined_ = true;
  }
  in_message_ = false;
  return Outcome::kMessage;
}

std::string MessageReader::Take() {
  if (!std::exchange(joined_, false)) return std::string(view_);
  std::string message;
  message.swap(partial_);
  return message;
}

void MessageReader::Reset() {
  prefix_size_ = 0;
  in_message_ = joined_ = false;
  partial_.clear();
}

}  // namespace apimesh::grpc
