#include "lib/spdy/frame_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/spdy/byte_order.h"

namespace apimesh::spdy {
namespace {

constexpr std::size_t kHeadBytes = 8;
constexpr std::uint32_t kStreamMask = 0x7fffffff;
constexpr std::uint16_t kVersion = 3;

/// Moves bytes from the front of `input` to `buffer` until it has `size` bytes. Returns whether it has.
bool Fill(std::string& buffer, std::string_view& input, std::size_t size) {
  const std::size_t taken = std::min(size - buffer.size(), input.size());
  buffer += input.substr(0, taken);
  input.remove_prefix(taken);
  return buffer.size() == size;
}

}  // namespace

std::optional<Frame> FrameReader::Next(std::string_view& input) {
  for (;;) {
    if (!error_.empty() || (!in_frame_ && !ReadHead(input))) return std::nullopt;
    if (!is_control_) {
      const bool ended = left_ == 0;
      if (!ended && input.empty()) return std::nullopt;
      if (std::optional<Frame> frame = TakeData(input)) return frame;
      continue;
    }
    if (!Fill(buffer_, input, left_)) return std::nullopt;
    in_frame_ = false;
    const std::string payload = std::exchange(buffer_, {});
    if (std::optional<Frame> frame = ParseControl(payload)) return frame;
  }
}

bool FrameReader::ReadHead(std::string_view& input) {
  if (!Fill(buffer_, input, kHeadBytes)) return false;
  const std::uint32_t first = ReadUint32(buffer_), second = ReadUint32(std::string_view(buffer_).substr(4));
  buffer_.clear();
  is_control_ = (first & ~kStreamMask) != 0;
  type_ = static_cast<std::uint16_t>(first);
  stream_ = first & kStreamMask;
  flags_ = static_cast<std::uint8_t>(second >> 24);
  left_ = second & kMaxLength;
  if (is_control_ && (first >> 16 & 0x7fff) != kVersion) {
    error_ = fmt::format("version {} of SPDY is not supported", first >> 16 & 0x7fff);
  } else if (is_control_ && left_ > limits_.control_bytes) {
    error_ = fmt::format("a control frame has {} bytes, at most {} are allowed", left_, limits_.control_bytes);
  } else if (!is_control_ && stream_ == 0) {
    error_ = "a data frame has no stream";
  }
  in_frame_ = error_.empty();
  return in_frame_;
}

std::optional<Frame> FrameReader::TakeData(std::string_view& input) {
  Frame frame;
  frame.stream = stream_;
  frame.data = input.substr(0, left_);
  input.remove_prefix(frame.data.size());
  left_ -= frame.data.size();
  in_frame_ = left_ > 0;
  frame.fin = !in_frame_ && (flags_ & kFin) != 0;
  if (frame.data.empty() && !frame.fin) return std::nullopt;
  return frame;
}

std::optional<Frame> FrameReader::ParseControl(std::string_view payload) {
  Frame frame;
  frame.control = static_cast<Type>(type_);
  frame.fin = (flags_ & kFin) != 0;
  const auto number = [payload](std::size_t position) { return ReadUint32(payload.substr(position)); };
  std::size_t fixed = 4;  // bytes before the headers
  switch (*frame.control) {
    case Type::kSynStream: fixed = 10; [[fallthrough]];
    case Type::kSynReply:
    case Type::kHeaders:
      if (payload.size() >= fixed) {
        frame.stream = number(0) & kStreamMask;
        if (ParseHeaders(payload.substr(fixed), frame)) return frame;
        return std::nullopt;
      }
      break;
    case Type::kRstStream:
    case Type::kGoAway:
      if (payload.size() == 8) {
        frame.stream = number(0) & kStreamMask;
        frame.status = number(4);
        return frame;
      }
      break;
    case Type::kPing:
      if (payload.size() == 4) {
        frame.stream = number(0);
        return frame;
      }
      break;
    default: return std::nullopt;  // nothing that a client without windows needs
  }
  error_ = fmt::format("a control frame of type {} has {} bytes", type_, payload.size());
  return std::nullopt;
}

bool FrameReader::ParseHeaders(std::string_view block, Frame& frame) {
  if (headers_.Decompress(block, frame.headers)) return true;
  error_ = "headers are not valid or too large";
  return false;
}

}  // namespace apimesh::spdy
