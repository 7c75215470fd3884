#include "services/aggregator/watches/event_messages.h"

#include <algorithm>

namespace apimesh::aggregator {

void EventMessages::Append(std::string_view data) {
  data_.erase(0, begin_);
  searched_ -= std::min(searched_, begin_);
  begin_ = 0;
  data_.append(data);
}

std::optional<std::string_view> EventMessages::Next() {
  constexpr std::size_t kLengthBytes = 4;
  std::size_t begin = begin_, end = 0;
  if (json_) {
    const std::size_t line_break = data_.find('\n', std::max(begin_, searched_));
    if (line_break == data_.npos) {
      searched_ = data_.size();
      return std::nullopt;
    }
    end = line_break + 1;
  } else {
    if (data_.size() - begin_ < kLengthBytes) return std::nullopt;
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<unsigned char>(data_[begin_ + i]);
    begin += kLengthBytes;
    if (data_.size() - begin < length) return std::nullopt;
    end = begin + length;
  }
  begin_ = end;
  return std::string_view(data_).substr(begin, end - begin);
}

}  // namespace apimesh::aggregator
